package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Microsoft's Azure Media Services, with open and token policies. Source: `Documentation/Vendors/Azure.md`.
package struct AzureService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    /// Whether a license needs a token. Defaults to `false`, the “open” policy; a token that is sent is checked anyway.
    package var requiresToken = false
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// The `iss` that tokens need. Defaults to `nil`: any.
    package var issuer: String?
    /// The `aud` that tokens need. Defaults to `nil`: any.
    package var audience: String?
    package var api = AzureAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/FairPlay/?kid=\(key.id)"
    }

    package var usualClaims: [String: JSONValue] {
        ["iss": .text(issuer ?? "latchkey"), "aud": .text(audience ?? "latchkey")]
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        guard let token = try checkedIfSent(token, isRequired: requiresToken) else { return question.grant }
        try check("iss", of: token, issuer)
        try check("aud", of: token, audience)
        if let covered = token.claims["urn:microsoft:azure:mediaservices:contentkeyidentifier"]?.text,
            KeyID(covered)?.description != question.key.name
        {
            throw .notCovered("The token is for another key than \(question.key.name ?? "").")
        }
        return question.grant
    }

    private func check(_ claim: String, of token: JSONWebToken, _ wanted: String?) throws(LicenseRefusal) {
        guard let wanted, token.claims[claim]?.texts?.contains(wanted) != true else { return }
        throw .notCovered("The token's “\(claim)” is not the configured one.")
    }
}
