package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// DoveRunner's wire: the certificate in base64 and in DER form, licenses for form requests.
///
/// Source: `Documentation/Vendors/DoveRunner.md`.
package struct DoveRunnerAPI: VendorAPI {
    package static let name: VendorAPIName = "doverunner"
    package static let tokenFields = [HTTPHeaderName(DoveRunnerToken.field)]
    /// The four characters of the one site; `nil` accepts any.
    package var siteID: String?
    /// The site's access key, which is hashed into every token; `nil` accepts any hash.
    package var accessKey: Secret?
    /// Decrypts policies, 32 bytes; `nil` reads unencrypted policies.
    package var siteKey: Secret?
    /// The maximum age of a token; `nil` accepts any time.
    package var tokenLifetime: Duration?
    /// Whether a token is for one session, which the license server's tenant may state; the vendor's pages do not.
    package var tokensAreSingleUse = false
    /// Whether a token must state its content.
    package var requiresContent = true
    /// The status of errors: 200 is documented for certificates, and not stated for licenses.
    package var errorStatus = 200
    /// Whether a refusal keeps the status that it states, as an emulated service does; otherwise `errorStatus`.
    package var statesStatus = false
    /// Whether the license endpoint's errors are nested in the message of an error 8002.
    package var nestsErrors = false
    /// How the CKC is written. The vendor's page lists tags, too.
    package var ckc = CKCEnvelope.base64

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/ri/fpsKeyManager.do"), .certificate("/ri/fpsCert.do"), .license("/ri/licenseManager.do")]
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard let sent = call.request.queryValue("siteId"), !sent.isEmpty else {
            throw .malformed("The query has no “siteId”.")
        }
        try checkSite(sent)
        return call.request.path.hasSuffix("fpsCert.do")
            ? .octets(certificate) : .text(certificate.base64EncodedString())
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let text = try DoveRunnerToken.text(in: call.request)
        let token = try DoveRunnerToken(text, key: accessKey, siteKey: siteKey)
        try checkSite(token.siteID)
        let expiry = try Self.expiry(of: token.timestamp, "timestamp", tokenLifetime, by: Self.tokenAge, call)
        let (spc, asset) = try call.doveRunnerBody()
        var grant = VendorGrant(tokenID: Self.digest(of: text))
        (grant.account, grant.issued, grant.expires) = (token.userID, token.timestamp, expiry)
        grant.terms = try token.terms(at: call.date)
        grant.tracks = try token.tracks()
        let (outputs, external) = (try token.outputs(), try token.externalKeys())
        grant.use = tokensAreSingleUse ? .session : .any
        return LicenseQuestion(
            spc: spc, key: RequestedKey(name: asset), grant: grant,
            isStored: grant.terms?.isPersistable == true,
            objection: { [requiresContent] key, identifier in
                if let objection = external.objection(to: key) { return objection }
                guard let content = token.contentID else {
                    return requiresContent ? .notCovered("The token has no “cid”.") : nil
                }
                guard content != KeyURI(identifier.description).remainder, !key.isNamed(content) else { return nil }
                return .notCovered("The token's “cid” is not the content of the SPC.")
            },
            narrow: { grant, key, _ in grant.output = outputs[key.track] ?? VendorOutput() })
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        guard let error = DoveRunnerError(refusal) else { return .plain(refusal) }
        var status = errorStatus
        if statesStatus, case .vendor(_, let told) = refusal.kind, told != 200 { status = told }
        let nests = call.vendorEndpoint == .license && (nestsErrors || error.code == "8002")
        return .json(nests ? error.nested : error.json, status: status)
    }

    private static let tokenAge = VendorRule(
        "tokenAge", .tokenExpired, "P3", "A token is good for 600 seconds from its timestamp.")
    package static let rules = [tokenAge]

    private func checkSite(_ id: String) throws(LicenseRefusal) {
        guard id.count == 4, siteID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no site “\(id.prefix(20))”.")
        }
    }
}
