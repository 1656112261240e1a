package import Foundation
package import LatchkeyHTTP

/// A request to a vendor's API, wherever it is mounted.
package protocol VendorRequest: Sendable {
    /// The request, with its path as on the vendor's own host.
    var request: HTTPRequest { get }
    /// What the names in the route's path stand for.
    var path: PathParameters { get }
    /// Now.
    var date: Date { get }

    /// Notes that something wrong was accepted.
    /// - Parameters:
    ///   - code: a stable name of it.
    ///   - text: what the request did, without secrets.
    func warn(_ code: String, _ text: String)
}
