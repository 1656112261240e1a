import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
import LatchkeyHTTP
import LatchkeyVendorWire

/// The wire of `latchkey-server`'s own API, without tenants, policies and sessions.
///
/// Source: `Documentation/Vendors/Latchkey.md`.
package struct LatchkeyService: SignedTokenService {
    package let identifier: ServiceIdentifier = "latchkey"
    package let environment: ServiceEnvironment
    package var signingKey: Secret?

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var usualClaims: [String: JSONValue] { ["sub": .text("latchkey")] }

    package var routes: [ServiceRoute] {
        [.certificate("/t/demo/certificate"), .license("/t/demo/fairplay", license)]
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        .refusal(refusal, requestID: call.id)
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let isJSON = call.request.headers.mediaType == "application/json"
        let body: JSONValue? = if isJSON { try call.json() } else { nil }
        let sent = if let token = body?["token"]?.text { token } else { try call.bearerToken() }
        guard let token = sent, !token.isEmpty else { throw .tokenMissing("the Authorization field") }
        _ = try checked(token)
        let purpose = body?["purpose"]?.text ?? call.request.headers["X-Latchkey-Purpose"] ?? "stream"
        guard ["stream", "download", "renewStored"].contains(purpose) else {
            throw .malformed("The purpose is not stream, download or renewStored.")
        }
        let spc = if let body { try call.spc(in: body) } else { try call.rawSPC() }
        let terms = purpose == "stream" ? nil : LicenseTerms(.persistent)
        let license = try await call.license(for: LicenseQuestion(spc: spc, key: .namedInSPC, terms: terms))
        guard isJSON else { return .octets(call.ckc(of: license)) }
        var members: [String: JSONValue] = ["ckc": .text(call.ckc(of: license).base64EncodedString())]
        if let lease = license.terms.lease {
            members["lease"] = .number(lease.inSeconds)
            members["renewAfter"] = .number((lease.inSeconds * 0.8).rounded(.down))
        }
        return .json(members)
    }
}
