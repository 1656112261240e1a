import LatchkeyCore

/// Something that a service let pass though its documentation asks for something else.
public struct ServiceWarning: Sendable, Hashable, CustomStringConvertible {
    /// The service.
    public let service: ServiceIdentifier
    /// A stable name of what was let pass, such as `contentType`.
    public let code: String
    /// What the request did, without secrets.
    public let text: String
    /// The number of the request, as its reply names it.
    public let requestID: String

    public var description: String { "\(service) \(requestID): \(code): \(text)" }
}

/// The warnings of one service; the latest 1,000 are kept.
final class WarningJournal: Sendable {
    private static let limit = 1_000
    private let warnings = Locked<[ServiceWarning]>([])

    var all: [ServiceWarning] { warnings.withLock { $0 } }

    func add(_ warning: ServiceWarning) {
        warnings.withLock { warnings in
            if warnings.count == Self.limit { warnings.removeFirst() }
            warnings.append(warning)
        }
    }
}
