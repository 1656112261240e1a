package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms

/// Axinom's license service message: a JWT around an entitlement message.
///
/// Source: `Documentation/Vendors/Axinom.md`, token.
package struct AxinomMessage: Sendable {
    /// The claims of the JWT around the entitlement.
    package let claims: JSONValue
    let entitlement: JSONValue
    private let date: Date

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the communication key, which signs messages; `nil` accepts any signature.
    ///   - communicationKeyID: the `com_key_id` that it needs; `nil` accepts any.
    ///   - date: now.
    package init(_ text: String, key: Secret?, communicationKeyID: KeyID?, date: Date) throws(LicenseRefusal) {
        let claims = try JSONWebToken.checked(text, key: key, date: date).claims
        guard claims["version"]?.number == 1 else { throw .tokenMalformed("The message's version is not 1.") }
        guard let id = claims["com_key_id"]?.text.flatMap({ KeyID($0) }) else {
            throw .tokenMalformed("The message's “com_key_id” is not a GUID.")
        }
        guard communicationKeyID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no such communication key.")
        }
        guard let message = claims["message"], message["type"]?.text == "entitlement_message" else {
            throw .tokenMalformed("The message holds no entitlement message.")
        }
        guard message["version"]?.number == 2 else {
            throw .tokenMalformed("The entitlement message's version is not 2.")
        }
        self.claims = claims
        entitlement = message
        self.date = date
        try check(from: claims["begin_date"], to: claims["expiration_date"], of: "message")
        try check(
            from: entitlement["license"]?["start_datetime"], to: entitlement["license"]?["expiration_datetime"],
            of: "license")
    }

    /// Why the message does not cover a key; `nil` if it lists the key and the IV is right.
    /// - Parameters:
    ///   - id: the key that the content identifier names.
    ///   - key: the key itself.
    ///   - iv: the IV in the content identifier; `nil` if it has none, and the message has to.
    package func objection(to id: KeyID, _ key: ContentKey, iv: String?) -> LicenseRefusal? {
        guard let entry = entries.first(where: { $0["id"]?.text.flatMap { KeyID($0) } == id }) else {
            return .notCovered("The message does not list the key \(id).")
        }
        // The message has precedence over the content identifier.
        guard let text = entry["iv"]?.text ?? iv else { return .malformed("Neither message nor key URI has the IV.") }
        let bytes = Data(hexString: text) ?? Data(lenientBase64: text) ?? KeyID(text)?.bytes
        guard bytes.map({ Secret($0) == key.iv }) ?? false else {
            return .malformed("The IV is not the key's.")
        }
        return nil
    }

    /// Whether a second use of the message is refused.
    var isForOneRequest: Bool {
        entitlement["license_server"]?["access_control"]?["prevent_drm_message_reuse"]?.flag == true
    }

    /// When the message ends; `nil` if it does not say.
    package var expires: Date? { claims["expiration_date"]?.text.flatMap(ISODate.date) }

    /// The terms that the message grants; `nil` if it states none.
    package var terms: LicenseTerms? {
        let duration = entitlement["license"]?["duration"]?.seconds
        guard entitlement["license"]?["allow_persistence"]?.flag == true else {
            return duration.map { LicenseTerms(.lease($0)) }
        }
        return LicenseTerms(duration.map { .persistentFor($0) } ?? .persistent)
    }

    var entries: [JSONValue] {
        guard case .array(let entries) = entitlement["content_keys_source"]?["inline"] else { return [] }
        return entries
    }

    private func check(from start: JSONValue?, to end: JSONValue?, of part: String) throws(LicenseRefusal) {
        if let start {
            guard let begin = start.text.flatMap(ISODate.date) else {
                throw .tokenMalformed("The start of the \(part) is not an ISO 8601 date.")
            }
            guard date >= begin else { throw .tokenNotYetValid("The start of the \(part) is still to come.") }
        }
        if let end {
            guard let expiry = end.text.flatMap(ISODate.date) else {
                throw .tokenMalformed("The end of the \(part) is not an ISO 8601 date.")
            }
            guard date < expiry else { throw .tokenExpired("The end of the \(part) is over.") }
        }
    }
}
