import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

extension HTTPResponse {
    /// A refusal in the form of the native APIs.
    ///
    /// Source: `Documentation/LicenseServer.md` §6.4.
    package static func refusal(_ refusal: LicenseRefusal, requestID: String) -> HTTPResponse {
        var response = HTTPResponse(
            status: refusal.status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .bytes(refusal.body(requestID: requestID)))
        response.headers[.retryAfter] = refusal.retryAfterSeconds.map(String.init)
        if case .method(let allowed) = refusal.kind { response.headers[.allow] = allowed }
        return response
    }
}
