import Foundation
package import LatchkeyCore
import LatchkeyForms
package import LatchkeyMedia
package import LatchkeyVendorWire

/// castLabs' DRMtoday. Custom data alone are enough.
///
/// Source: `Documentation/Vendors/DRMtoday.md`.
package struct DRMtodayService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The customer. Defaults to `nil`: any.
    package var merchant: String?
    /// The key that signs tokens, HS512, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// How the CKC is written. Defaults to base64.
    package var ckc = CKCEnvelope.base64

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var api: DRMtodayAPI {
        var api = DRMtodayAPI()
        (api.merchant, api.signingKey) = (merchant, signingKey)
        (api.tokensAreSingleUse, api.takesCustomData, api.ckc) = (true, true, ckc)
        return api
    }

    package var redaction: Redaction {
        Redaction(headers: ["x-dt-custom-data", "dt-custom-data", "x-dt-auth-token"])
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://drmtoday?assetId=\(key.id)&variantId=&keyId=\(key.id.bytes.hexString)&keyRotationId=0"
    }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/license-server-fairplay/cert/\(demoMerchant)",
            "licenseURL": "\(base)/license-server-fairplay/", "merchant": demoMerchant, "userId": "demo-user",
            "sessionId": "demo-session",
        ]
    }

    /// The customer of the demonstration.
    private var demoMerchant: String { merchant ?? "latchkey" }

    package func demoToken() -> Secret { token() }

    package var tokenKeys: [String: Secret] { signingKey.map { ["sharedSecret": $0] } ?? [:] }

    /// A token for any asset.
    /// - Parameters:
    ///   - right: a JSON object with members of the token's only right that replace the usual ones.
    ///   - number: the `jti`. Defaults to a new one.
    package func token(right: String = "{}", number: String = UUID().uuidString) -> Secret {
        var members: [String: JSONValue] = [
            "accountingId": .text("latchkey"), "profile": .object(["purchase": .object([:])]),
            "storeLicense": .flag(true),
        ]
        if case .object(let stated) = JSONValue(Data(right.utf8)) { members.merge(stated) { $1 } }
        let options = #"{"userId":"demo-user","merchant":"\#(demoMerchant)","sessionId":"demo-session"}"#
        let claims: [String: JSONValue] = [
            "crt": .text(JSONValue.array([.object(members)]).canonicalText), "optData": .text(options),
            "jti": .text(number),
            "iat": .number(environment.time.date.timeIntervalSince1970.rounded()),
        ]
        return Secret(JSONWebToken.text(claims: .object(claims), key: signingKey, algorithm: "HS512"))
    }

    /// The codes are public; the page only says that statuses are not 2xx, so they are inferred here.
    ///
    /// Source: `Documentation/Vendors/DRMtoday.md`, DT3 and DT4.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(500, "1000") + DocumentedRefusal.all(400, "2000 10001 30000 43000")
            + DocumentedRefusal.all(403, "3000 20101 60000 60001 60100 70000 70001 80000 80001 90000 90001")
    }
}
