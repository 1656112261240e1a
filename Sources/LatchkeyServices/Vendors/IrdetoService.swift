package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Irdeto Control, with and without tokens. Source: `Documentation/Vendors/Irdeto.md`.
package struct IrdetoService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    /// Whether a license needs a token. Defaults to `false`; a token that is sent is checked anyway.
    package var requiresToken = false
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    package var api = IrdetoAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    /// The beginning of the demonstration's paths.
    private var path: String { IrdetoAPI.path(api.customer ?? "DEMO") }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)\(path)/getckc?contentId=\(key.id)&keyId=\(key.id)"
    }

    package func parameters(at base: String) -> [String: String] {
        let application = api.applicationID ?? "latchkey"
        return [
            "certificateURL": "\(base)\(path)/getcertificate?applicationId=\(application)",
            "licenseURL": "\(base)\(path)/getckc", "applicationId": application,
        ]
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        _ = try checkedIfSent(token, isRequired: requiresToken)
        return question.grant
    }
}
