package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// The wire of Verimatrix's Streamkeeper Multi-DRM, and the form of the older, non-cloud product, which has no token.
///
/// Source: `Documentation/Vendors/Verimatrix.md`.
package struct VerimatrixAPI: VendorAPI {
    package static let name: VendorAPIName = "verimatrix"
    /// Whether the older product's form requests are answered. Defaults to `true`.
    package var takesForms = true
    /// The seconds of `Retry-After` with a 503, chosen at random. Defaults to 1 to 5.
    package var retryAfter = 1...5

    package init() {}

    // The vendor publishes no path for the certificate.
    package var routes: [Route<VendorEndpoint>] { [.certificate("/fairplay/certificate"), .license("/fairplay")] }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        // The ID between `skd://` and `?`; one client keeps the query.
        let key = RequestedKey.namedInSPC { $0.text.map { KeyURI($0).remainderBeforeQuery } }
        guard isForm(call) else {
            let token = call.request.headers[.authorization] ?? call.request.queryValue("Authorization")
            return LicenseQuestion(spc: try Self.spc(try call.json().required("spc"), call), key: key, token: token)
        }
        let form = try call.form()
        let field = try form.required("spc")
        // Documented is URL-safe base64 with padding. Standard base64 works, but may lose a `+`.
        let spc = field.contains(" ") ? try call.spc(in: form) : try Self.spc(field, call)
        return LicenseQuestion(spc: spc, key: key, token: nil)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        .ckc(ckc, in: isForm(call) ? .tagged : .json)
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        guard call.vendorEndpoint == .license, let error = VerimatrixError(refusal) else { return .plain(refusal) }
        // The shape is not published; code and message are.
        var response = HTTPResponse.json(
            ["code": .text(error.code), "message": .text(refusal.reason)], status: error.status)
        if error.status == 503 { response.headers[.retryAfter] = "\(Int.random(in: retryAfter))" }
        return response
    }

    /// Whether a request is the older product's.
    package func isForm(_ call: some VendorRequest) -> Bool {
        takesForms && call.request.headers.mediaType == "application/x-www-form-urlencoded"
    }

    package static let noBearer = VendorRule(
        "noBearer", .tokenMalformed, "T1, K1", "`Authorization` has the token without `Bearer`.")
    package static let issuedAt = VendorRule(
        "issuedAt", .vendor(code: "MDRM-509", status: 401), "VX3, VX6", "A token needs `iat`.")
    package static let issuedBefore = VendorRule(
        "issuedBefore", .vendor(code: "MDRM-510", status: 401), "VX5, VX6", "A token's `iat` is at most 5 s ahead.")
    package static let tokenAge = VendorRule(
        "tokenAge", .tokenExpired, "VX5", "A token lives until `iat` and 120 s, give or take 5 s, whatever `exp` says.")
    package static let rules = [noBearer, issuedAt, issuedBefore, tokenAge]

    /// Both base64 alphabets are documented.
    private static func spc(_ text: String, _ call: some VendorRequest) throws(LicenseRefusal) -> Data {
        let standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return try call.base64(String(decoding: standard, as: UTF8.self), in: "spc")
    }
}
