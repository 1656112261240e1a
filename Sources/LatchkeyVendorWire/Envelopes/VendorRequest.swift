package import LatchkeyHTTP

/// A request to a vendor's API, or to its emulation, which read the same envelopes.
package protocol VendorRequest: Sendable {
    /// The request, with its path as on the vendor's own host.
    var request: HTTPRequest { get }
    /// What the names in the route's path stand for.
    var path: PathParameters { get }

    /// Notes that something wrong was accepted.
    /// - Parameters:
    ///   - code: a stable name of it.
    ///   - text: what the request did, without secrets.
    func warn(_ code: String, _ text: String)
}
