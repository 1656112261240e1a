package import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

/// A request to a vendor's API, wherever it is mounted.
package protocol VendorRequest: Sendable {
    /// The request, with its path as on the vendor's own host.
    var request: HTTPRequest { get }
    /// The values of the parameters in the route's path.
    var path: PathParameters { get }
    /// The purpose of the path.
    var vendorEndpoint: VendorEndpoint { get }
    /// The current date.
    var date: Date { get }
    /// The request's ID in log, reply and refusal.
    var id: String { get }

    /// Notes that an incorrect request was accepted.
    /// - Parameters:
    ///   - code: a stable name of the fault.
    ///   - text: the request's fault, without secrets.
    func warn(_ code: String, _ text: String)

    /// The refusal of a rule's breach; `nil` if the server that mounts the wire allows it. Defaults to the license server's.
    /// - Parameter text: the request's breach, without secrets.
    func objection(to rule: VendorRule, _ text: String) -> LicenseRefusal?
}
