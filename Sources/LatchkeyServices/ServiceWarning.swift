import LatchkeyCore

/// A request that a service accepted although its documentation requires a different form.
public struct ServiceWarning: Sendable, Hashable, CustomStringConvertible {
    /// The service.
    public let service: ServiceIdentifier
    /// A stable name of the accepted fault, such as `contentType`.
    public let code: String
    /// The request's fault, without secrets.
    public let text: String
    /// The ID of the request, as in its reply.
    public let requestID: String

    public var description: String { "\(service) \(requestID): \(code): \(text)" }
}

/// The warnings of one service; the latest 1,000.
final class WarningJournal: Sendable {
    private let warnings = Locked(BoundedQueue<ServiceWarning>(limit: 1_000))

    var all: [ServiceWarning] { warnings.withLock { $0.elements } }

    func add(_ warning: ServiceWarning) { warnings.withLock { _ = $0.append(warning) } }
}
