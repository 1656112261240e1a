import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

extension HTTPResponse {
    /// The reply with DRMtoday's sign of success.
    package var goodOfDRMtoday: HTTPResponse {
        var response = self
        response.headers["x-dt-resp-code"] = "0"
        return response
    }

    /// A refusal as DRMtoday's: an error status with `x-dt-resp-code` and `x-dt-error-message`.
    package static func drmToday(_ refusal: LicenseRefusal) -> HTTPResponse {
        let code = code(refusal)
        let message = code == "20101" ? "not_granted" : refusal.code
        return HTTPResponse(
            status: refusal.status,
            headers: [
                .contentType: "text/plain; charset=utf-8", "x-dt-resp-code": code, "x-dt-error-message": message,
            ], body: .bytes(Data(refusal.reason.utf8)))
    }

    private static func code(_ refusal: LicenseRefusal) -> String {
        switch refusal.kind {
        case .vendor(let code, _): code
        case .malformedRequest, .method, .mediaType: "10001"
        case .policy(.output): "70001"
        case .notCovered, .policy: "20101"
        case .tokenMissing, .tokenMalformed, .tokenExpired, .tokenNotYetValid, .tokenSignature, .tokenUsed,
            .unknownTenant:
            "3000"
        case .contentMismatch, .unknownKey, .ambiguousKey: "30000"
        case .spc: "43000"
        case .sessionLimit: "60100"
        case .overloaded: "1000"
        }
    }
}
