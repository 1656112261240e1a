package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// NAGRA CONNECT's wire. The first of its tokens states the playable content. Source: `Documentation/Vendors/NAGRA.md`.
package struct NAGRAAPI: VendorAPI {
    package static let name: VendorAPIName = "nagra"
    package static let tokenFields: [HTTPHeaderName] = ["nv-authorizations"]
    package static let otherFields: [HTTPHeaderName] = ["nv-tenant-id"]
    /// The tenant in paths; `nil` accepts any. `nv-tenant-id` names the same.
    package var tenant: String?
    /// The header field of the tokens. Defaults to `nv-authorizations`.
    package var tokenHeader: HTTPHeaderName = "nv-authorizations"

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        let tenant = "/\(tenant ?? "{tenant}")"
        let service = "\(tenant)/fpls/contentlicenseservice/v1"
        return [
            .certificate("\(service)/certificates"), .certificate("\(service)/certificates\(tenant)"),
            .license("\(service)/licenses"),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        try checkTenant(call)
        // The content identifier is the decoded JSON of the key URI.
        let key = RequestedKey.namedInSPC { JSONValue($0.bytes)?["KeyId"]?.text ?? $0.text }
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: tokens(of: call.request).first)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        reply(ckc, sessionToken: nil)
    }

    /// The reply with a license.
    /// - Parameter token: the next one of the session that the license keeps alive.
    package func reply(_ ckc: Data, sessionToken token: String?) -> HTTPResponse {
        var members: [String: JSONValue] = ["CkcMessage": .text(ckc.base64EncodedString())]
        members["sessionToken"] = token.map { .text($0) }
        return .json(members)
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        reply(to: refusal, isOfSession: false)
    }

    /// The reply with a refusal, as session management or else the license service writes it.
    package func reply(to refusal: LicenseRefusal, isOfSession: Bool) -> HTTPResponse {
        let error = NAGRAError(refusal, isOfSession: isOfSession)
        var members: [String: JSONValue] = ["message": .text(refusal.reason)]
        members["errorCode"] = error.code.map { .number(Double($0)) }
        return .json(members, status: error.status)
    }

    /// The tokens of a request, without blanks around the commas. A blank inside a token corrupts it.
    package func tokens(of request: HTTPRequest) -> [String] {
        (request.headers[tokenHeader] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    package static let sessionFirst = VendorRule(
        "sessionFirst", .tokenMissing, "N1, N7",
        "Setup precedes the first license, if the content token has `sessionControlEnabled`.")
    package static let blank = VendorRule(
        "blank", .malformedRequest, "N1", "The comma between tokens has no blank behind it.")
    package static let renewalAlone = VendorRule(
        "renewalAlone", .malformedRequest, "N1", "A renewal has the session token alone in the header.")
    package static let sessionLimit = VendorRule(
        "sessionLimit", .sessionLimit, "N2, N7", "An account has at most `maxSessions` concurrent sessions: 1007.")
    package static let rules = [sessionFirst, blank, renewalAlone, sessionLimit]

    private func checkTenant(_ call: some VendorRequest) throws(LicenseRefusal) {
        guard let named = call.request.headers["nv-tenant-id"] else { return }
        guard let tenant = call.request.path.split(separator: "/").first, tenant == named else {
            throw .unknownTenant("The tenant of the path and that of nv-tenant-id differ.")
        }
    }
}
