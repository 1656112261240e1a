package import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

/// A request to a vendor's API, wherever it is mounted.
package protocol VendorRequest: Sendable {
    /// The request, with its path as on the vendor's own host.
    var request: HTTPRequest { get }
    /// What the names in the route's path stand for.
    var path: PathParameters { get }
    /// What the path is for.
    var vendorEndpoint: VendorEndpoint { get }
    /// Now.
    var date: Date { get }
    /// What log, reply and refusal call the request.
    var id: String { get }

    /// Notes that something wrong was accepted.
    /// - Parameters:
    ///   - code: a stable name of it.
    ///   - text: what the request did, without secrets.
    func warn(_ code: String, _ text: String)

    /// The refusal of a rule's breach; `nil` where whoever mounts the wire lets it pass. Defaults to the license server's.
    /// - Parameter text: what the request did, without secrets.
    func objection(to rule: VendorRule, _ text: String) -> LicenseRefusal?
}
