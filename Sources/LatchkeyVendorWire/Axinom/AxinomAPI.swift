package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Axinom's wire.
///
/// The claims `sub`, `sid` and `jti` next to the message are viewer, session and the token's number, if the customer's token service writes
/// them.
///
/// Source: `Documentation/Vendors/Axinom.md`.
package struct AxinomAPI: VendorAPI {
    package static let name: VendorAPIName = "axinom"
    package static let tokenFields = [HTTPHeaderName(AxinomMessage.field)]
    /// The communication key's identifier that messages need; `nil` accepts any.
    package var communicationKeyID: KeyID?
    /// The communication key, at most 64 bytes; `nil` accepts any signature.
    package var communicationKey: Secret?
    /// Whether the message or key URI must state the IV. A key URI of a tenant's template does not; the key's own is right.
    package var requiresIV = false

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/FPScert/fairplay.cer"), .license("/AcquireLicense")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let text = try AxinomMessage.text(in: call.request)
        if call.request.headers[Self.tokenFields[0]] != nil, call.request.queryValue(AxinomMessage.field) != nil {
            try call.breach(of: Self.onePlace, "The message is in both the header and the query.")
        }
        let message = try AxinomMessage(
            text, key: communicationKey, communicationKeyID: communicationKeyID, date: call.date)
        let outputs = try message.outputs()
        var grant = VendorGrant(tokenID: message.claims["jti"]?.text ?? Self.digest(of: text))
        if message.isForOneRequest {
            guard let id = message.claims["id"]?.text else {
                throw .tokenMalformed("A message for one request needs an “id”.")
            }
            (grant.tokenID, grant.use) = (id, .license)
        }
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

    private static let onePlace = VendorRule(
        "onePlace", .malformedRequest, "AX11", "The message is delivered in one way: header or query.",
        passesHere: true)
    private static let messageOnce = VendorRule(
        "messageOnce", .tokenUsed, "AX10", "A message with `prevent_drm_message_reuse` answers one request.")
    package static let rules = [onePlace, messageOnce]

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        var response = HTTPResponse.octets(ckc)
        response.headers["X-AxDRM-Server"] = "latchkey"
        response.headers["X-AxDRM-Version"] = "1"
        return response
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse { .axinom(refusal) }
}
