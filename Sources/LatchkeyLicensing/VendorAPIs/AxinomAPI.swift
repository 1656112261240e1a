package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVault
import LatchkeyVendorWire

/// Axinom's wire, for a tenant.
///
/// The claims `sub`, `sid` and `jti` beside the message are viewer, session and the token's number, where the customer's token service
/// writes them.
///
/// Source: `Documentation/Vendors/Axinom.md`.
package struct AxinomAPI: VendorAPI {
    package let name = VendorAPIName.axinom
    private let keyID: KeyID
    private let key: Secret

    /// - Parameters:
    ///   - keyID: the communication key's identifier.
    ///   - key: the communication key, at most 64 bytes.
    package init(keyID: KeyID, key: Secret) {
        self.keyID = keyID
        self.key = key
    }

    package var routes: [Route<VendorEndpoint>] {
        [VendorEndpoint.certificate("/FPScert/fairplay.cer"), VendorEndpoint.license("/AcquireLicense")]
    }

    package func certificate(
        _ certificate: Data, for call: VendorAPICall
    ) throws(LicenseRefusal) -> HTTPResponse { .octets(certificate) }

    package func licenseRequest(_ call: VendorAPICall) throws(LicenseRefusal) -> LicenseIssuer.VendorLicenseRequest {
        let text = try AxinomMessage.text(in: call.request)
        let message = try AxinomMessage(text, key: key, communicationKeyID: keyID, date: call.date)
        let outputs = try message.outputs()
        var grant = VendorGrant(tokenID: message.claims["jti"]?.text ?? Self.digest(of: text))
        grant.account = message.claims["sub"]?.text
        grant.session = message.claims["sid"]?.text
        grant.expires = message.expires
        grant.terms = message.terms
        return LicenseIssuer.VendorLicenseRequest(
            spc: try call.rawSPC(), viewer: call.viewer(message.terms?.isPersistable == true ? .download : .stream),
            grant: grant, nameInSPC: { AxinomMessage.parts(of: $0).flatMap { KeyName($0.key) } },
            objection: { key, identifier in
                guard let id = key.facts.id else { return .notCovered("The key has no identifier.") }
                // A key URI of the tenant's template does not say the IV; the key's own is right.
                let iv = AxinomMessage.parts(of: identifier)?.iv ?? key.content.iv.withUnsafeBytes { $0.hexString }
                return message.objection(to: id, key.content, iv: iv)
            },
            narrow: { grant, key, _ in grant.output = key.id.flatMap { outputs[$0] } ?? VendorOutput() })
    }

    package func reply(_ license: LicenseIssuer.License) -> HTTPResponse {
        var response = HTTPResponse.octets(license.ckc.revealed)
        response.headers["X-AxDRM-Server"] = "latchkey"
        response.headers["X-AxDRM-Version"] = "1"
        return response
    }

    package func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse {
        .axinom(refusal)
    }
}
