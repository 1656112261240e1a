import Foundation
package import LatchkeyCore
import LatchkeyDecision
package import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Microsoft's Azure Media Services: licenses for form requests, chosen by the `kid` of the license URL.
///
/// Source: `Documentation/Vendors/Azure.md`.
package struct AzureService: SignedTokenService {
    package let identifier: ServiceIdentifier = "azure"
    package let environment: ServiceEnvironment
    /// Whether a license needs a token. Defaults to `false`, the “open” policy; a token that is sent is checked all the same.
    package var requiresToken = false
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// The `iss` that tokens need. Defaults to `nil`: any.
    package var issuer: String?
    /// The `aud` that tokens need. Defaults to `nil`: any.
    package var audience: String?
    /// How the CKC is written. Defaults to tags.
    package var ckc = CKCEnvelope.tagged

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [
            // The certificate is a file of the customer's own, for which the vendor has no path. Some clients send their token along,
            // which nobody reads.
            .certificate("/certificates/fairplay.cer"),
            .license("/FairPlay/", license),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/FairPlay/?kid=\(key.id)"
    }

    package var usualClaims: [String: JSONValue] {
        ["iss": .text(issuer ?? "latchkey"), "aud": .text(audience ?? "latchkey")]
    }
}

extension AzureService {
    private static let keyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let id = try keyID(call)
        try checkToken(call, for: id)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        if let named = Self.keyID(inIdentifier: asset), KeyID(named) != id {
            throw .malformed("“kid” of the URL and “assetId” name different keys.")
        }
        let key = RequestedKey.named(id.description) { identifier in
            if identifier.text != asset { call.warn("assetId", "“assetId” is not the SPC's content identifier") }
            return identifier.text.flatMap { Self.keyID(inIdentifier: $0) }
        }
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: spc, key: key)), in: ckc)
    }

    /// The key by the URL's `kid`, whatever the form says.
    private func keyID(_ call: ServiceCall) throws(LicenseRefusal) -> KeyID {
        guard let text = call.request.queryValue("kid") else { throw .malformed("There is no “kid”.") }
        guard let id = KeyID(text) else { throw .malformed("“kid” is not a GUID.") }
        return id
    }

    /// The key that a content identifier names: `kid=…` or a URI with it. Others, such as the host, name none.
    private static func keyID(inIdentifier text: String) -> String? {
        KeyURI(text.contains("?") ? text : "?\(text)").queryValue("kid")
    }

    private func checkToken(_ call: ServiceCall, for id: KeyID) throws(LicenseRefusal) {
        guard let text = try call.bearerToken() else {
            guard requiresToken else { return }
            throw .tokenMissing("the header Authorization")
        }
        let token = try checked(text, algorithms: ["HS256", "RS256"])
        try check("iss", of: token, issuer)
        try check("aud", of: token, audience)
        guard let covered = token.claims[Self.keyClaim]?.text else { return }
        guard KeyID(covered) == id else { throw .notCovered("The token is for another key than \(id).") }
    }

    private func check(_ claim: String, of token: JSONWebToken, _ wanted: String?) throws(LicenseRefusal) {
        guard let wanted, token.claims[claim]?.texts?.contains(wanted) != true else { return }
        throw .notCovered("The token's “\(claim)” is not the configured one.")
    }
}
