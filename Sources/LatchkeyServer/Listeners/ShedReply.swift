import Foundation
import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyLicensing

/// The reply to requests beyond the number that the node works on at the same time. Made ahead except for the request's name, because time
/// spent on refusals is missing for licenses.
struct ShedReply: Sendable {
    /// A body around the request's name.
    private struct Body: Sendable {
        let start, end: Data

        init(_ refusal: LicenseRefusal) {
            let name = "request-identifier"
            let whole = refusal.body(requestID: name)
            let place = whole.firstRange(of: Data(name.utf8)) ?? whole.endIndex..<whole.endIndex
            (start, end) = (Data(whole[..<place.lowerBound]), Data(whole[place.upperBound...]))
        }
    }

    /// The refusal in the reply.
    static let refusal = refusal(retryAfter: nil)
    private static let seconds = 1...5

    private let bodies = seconds.map { Body(refusal(retryAfter: .seconds($0))) }

    private static func refusal(retryAfter: Duration?) -> LicenseRefusal {
        LicenseRefusal(
            .overloaded, reason: "The server has more requests than it can answer in time.", retryAfter: retryAfter)
    }

    /// The reply to a request. Clients that are refused together are spread, so that they do not come back together.
    func response(to id: RequestID) -> HTTPResponse {
        let seconds = Int.random(in: Self.seconds)
        let body = bodies[seconds - Self.seconds.lowerBound]
        return HTTPResponse(
            status: Self.refusal.status,
            headers: [.contentType: "application/json", .cacheControl: "no-store", .retryAfter: "\(seconds)"],
            body: .bytes(body.start + Data(id.text.utf8) + body.end))
    }
}
