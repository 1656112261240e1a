import Foundation
package import LatchkeyCore
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Axinom DRM: raw licenses for a license service message, errors in a header field.
///
/// Source: `Documentation/Vendors/Axinom.md`.
package struct AxinomService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The communication key's identifier that messages need. Defaults to `nil`: any.
    package var communicationKeyID: KeyID?
    /// The communication key, which signs messages, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var communicationKey: Secret?
    /// Whether key URIs carry the IV. Defaults to `true`; otherwise the message has to.
    package var keyURIsHaveIV = true

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var api: AxinomAPI {
        var api = AxinomAPI()
        (api.communicationKeyID, api.communicationKey) = (communicationKeyID, communicationKey)
        api.requiresIV = true
        return api
    }

    package var redaction: Redaction { Redaction(headers: [AxinomMessage.field], queryItems: [AxinomMessage.field]) }

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
    ///   - policies: the names of keys' usage policies. Defaults to none.
    ///   - usagePolicies: a JSON array of the usage policies; any other text counts as none.
    package func message(
        for keys: [KeyID], license: String = "{}", dates: String = "{}", policies: [KeyID: String] = [:],
        usagePolicies: String = "[]"
    ) -> Secret {
        let inline = keys.map { key in
            var entry = ["id": JSONValue.text(key.description)]
            entry["usage_policy"] = policies[key].map { .text($0) }
            return JSONValue.object(entry)
        }
        let entitlement = JSONValue.object([
            "content_key_usage_policies": JSONValue(Data(usagePolicies.utf8)) ?? .array([]),
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

    /// The page has statuses and one code.
    package var documentedRefusals: [DocumentedRefusal] {
        [400, 403, 500].flatMap { DocumentedRefusal.all($0, "\($0)") } + DocumentedRefusal.all(403, "1")
    }

    package func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse {
        var response = api.reply(call.ckc(of: license), on: license.terms, to: call)
        response.headers["X-AxDRM-Identity"] = call.id
        return response
    }
}

extension AxinomService {
    /// The communication key of the demonstration.
    private var demoKeyID: String { communicationKeyID?.description ?? "69e54088-e9e0-4530-8c1a-1eb6dcd0d14e" }
}
