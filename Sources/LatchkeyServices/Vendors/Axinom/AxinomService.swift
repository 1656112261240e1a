import Foundation
package import LatchkeyCore
package import LatchkeyHTTP
package import LatchkeyServer

/// Axinom DRM: raw licenses for a license service message, errors in a header field.
///
/// Source: `Documentation/Vendors/Axinom.md`.
package struct AxinomService: VendorService {
    package let identifier: ServiceIdentifier = "axinom"
    package let environment: ServiceEnvironment
    /// The communication key's identifier that messages need. Defaults to `nil`: any.
    package var communicationKeyID: KeyID?
    /// The communication key, which signs messages, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var communicationKey: Secret?
    /// Whether key URIs carry the IV. Defaults to `true`; otherwise the message has to.
    package var keyURIsHaveIV = true

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: ["X-AxDRM-Message"], queryItems: ["X-AxDRM-Message"]) }

    package var routes: [ServiceRoute] {
        [.certificate("/FPScert/fairplay.cer"), .license("/AcquireLicense", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        keyURIsHaveIV
            ? "skd://\(key.id):\(key.content.iv.withUnsafeBytes { $0.hexString })" : "skd://\(key.id)"
    }

    /// A message that lists the first 50 keys, as many as fit in a header field.
    package func demoToken() -> Secret { message(for: environment.keys.keys.prefix(50).map(\.id)) }

    /// The key in base64, as the vendor's console shows it.
    package var tokenKeys: [String: Secret] {
        guard let key = communicationKey else { return [:] }
        return [
            "communicationKeyId": Secret(demoKeyID),
            "communicationKey": Secret(key.revealed.base64EncodedString()),
        ]
    }

    /// A message for keys.
    /// - Parameters:
    ///   - keys: the keys that it lists, without IVs.
    ///   - license: a JSON object for the entitlement message's `license`; any other text counts as none.
    ///   - dates: a JSON object with `begin_date` and `expiration_date`; any other text counts as none.
    package func message(for keys: [KeyID], license: String = "{}", dates: String = "{}") -> Secret {
        let inline = keys.map { JSONValue.object(["id": .text($0.description)]) }
        let entitlement = JSONValue.object([
            "type": .text("entitlement_message"), "version": .number(2),
            "license": JSONValue(Data(license.utf8)) ?? .object([:]),
            "content_keys_source": .object(["inline": .array(inline)]),
        ])
        var members: [String: JSONValue] = [
            "version": .number(1), "com_key_id": .text(demoKeyID), "message": entitlement,
        ]
        if case .object(let stated) = JSONValue(Data(dates.utf8)) { members.merge(stated) { $1 } }
        return Secret(JSONWebToken.text(claims: .object(members), key: communicationKey))
    }

    /// Status 400, the text in `X-AxDRM-ErrorMessage`, no body.
    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let status =
            switch refusal.kind {
            case .method, .mediaType, .overloaded, .vendor: refusal.status
            default: 400
            }
        return HTTPResponse(status: status, headers: ["X-AxDRM-ErrorMessage": Self.headerText(refusal)])
    }
}

extension AxinomService {
    /// The communication key of the demonstration.
    private var demoKeyID: String { communicationKeyID?.description ?? "69e54088-e9e0-4530-8c1a-1eb6dcd0d14e" }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let name = "X-AxDRM-Message"
        guard let text = call.request.headers[HTTPHeaderName(name)] ?? call.request.queryValue(name), !text.isEmpty
        else {
            throw .tokenMissing("the header or the query item \(name)")
        }
        let message = try AxinomMessage(
            text, key: communicationKey, communicationKeyID: communicationKeyID,
            date: environment.time.date)
        let key = RequestedKey.namedInSPC { Self.parts(of: $0)?.key }
        let question = LicenseQuestion(spc: try call.rawSPC(), key: key, terms: message.terms) {
            message.objection(to: $0, iv: Self.parts(of: $1)?.iv)
        }
        var response = HTTPResponse.octets(try await call.ckc(for: question))
        response.headers["X-AxDRM-Identity"] = call.id
        response.headers["X-AxDRM-Server"] = "latchkey"
        response.headers["X-AxDRM-Version"] = "1"
        return response
    }

    /// Key and IV, separated by a colon, with or without the scheme.
    private static func parts(of identifier: ContentIdentifier) -> (key: String, iv: String?)? {
        guard let text = identifier.text else { return nil }
        let parts = KeyURI(text).remainder.split(separator: ":", maxSplits: 1).map(String.init)
        return parts.first.map { ($0, parts.count > 1 ? parts[1] : nil) }
    }

    /// The refusal as a header field may hold it: ASCII in one line.
    private static func headerText(_ refusal: LicenseRefusal) -> String {
        let text = refusal.reason.replacing("“", with: "'").replacing("”", with: "'")
        return
            "\(refusal.code): \(String(text.unicodeScalars.filter { $0.isASCII && $0.value >= 32 }.map(Character.init)))"
    }
}
