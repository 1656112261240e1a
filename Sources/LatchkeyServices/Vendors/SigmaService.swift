package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Sigma Multi-DRM, with the merchant's callback.
///
/// Source: docs.sigmadrm.com/multi-safari.html, docs.sigmadrm.com/autho-callback.html and the vendor's SDK for iOS and tvOS,
/// read on 22 November 2026.
package struct SigmaService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The session that the merchant's callback allows. Defaults to `nil`: any.
    package var session: Secret?
    package var api = SigmaAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: ["custom-data"]) }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/license/verify/fairplay?assetId=\(key.id)&keyId=\(key.id)"
    }

    package func parameters(at base: String) -> [String: String] {
        let (merchant, app) = (api.merchant ?? "merchant", api.app ?? "app")
        return addresses(at: base).merging([
            "certificateURL": "\(base)/app/fairplay/\(merchant)/\(app)", "merchantId": merchant, "appId": app,
            "userId": "viewer-1",
        ]) { $1 }
    }

    package func demoToken() -> Secret { session ?? Secret("latchkey-demo-session") }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        guard session.map({ $0 == Secret(token ?? "") }) ?? true else {
            throw .notCovered("The merchant's callback does not allow the session.")
        }
        return question.grant
    }
}
