package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Axinom's wire.
///
/// The claims `sub`, `sid` and `jti` beside the message are viewer, session and the token's number, where the customer's token service
/// writes them.
///
/// Source: `Documentation/Vendors/Axinom.md`.
package struct AxinomAPI: VendorAPI {
    package let name = VendorAPIName.axinom
    /// The communication key's identifier that messages need; `nil` accepts any.
    package var communicationKeyID: KeyID?
    /// The communication key, at most 64 bytes; `nil` accepts any signature.
    package var communicationKey: Secret?
    /// Whether message or key URI has to say the IV. A key URI of a tenant's template does not; the key's own is right.
    package var requiresIV = false

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/FPScert/fairplay.cer"), .license("/AcquireLicense")]
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse { .octets(certificate) }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let text = try AxinomMessage.text(in: call.request)
        let message = try AxinomMessage(
            text, key: communicationKey, communicationKeyID: communicationKeyID, date: call.date)
        let outputs = try message.outputs()
        var grant = VendorGrant(tokenID: message.claims["jti"]?.text ?? Self.digest(of: text))
        grant.account = message.claims["sub"]?.text
        grant.session = message.claims["sid"]?.text
        grant.expires = message.expires
        grant.terms = message.terms
        return LicenseQuestion(
            spc: try call.rawSPC(), key: .namedInSPC { AxinomMessage.parts(of: $0)?.key }, grant: grant,
            isStored: message.terms?.isPersistable == true,
            objection: { [requiresIV] key, identifier in
                guard let id = key.facts.id else { return .notCovered("The key has no identifier.") }
                let own = requiresIV ? nil : key.content.iv.withUnsafeBytes { $0.hexString }
                return message.objection(to: id, key.content, iv: AxinomMessage.parts(of: identifier)?.iv ?? own)
            },
            narrow: { grant, key, _ in grant.output = key.id.flatMap { outputs[$0] } ?? VendorOutput() })
    }

    package func reply(_ ckc: Data) -> HTTPResponse {
        var response = HTTPResponse.octets(ckc)
        response.headers["X-AxDRM-Server"] = "latchkey"
        response.headers["X-AxDRM-Version"] = "1"
        return response
    }

    package func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint) -> HTTPResponse { .axinom(refusal) }
}
