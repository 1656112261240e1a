package import Foundation
import LatchkeyCore

/// One exchange in the log of a host.
public struct JournalEntry: Sendable, Hashable, CustomStringConvertible {
    /// The method.
    public let method: String
    /// Path and query, with the values of secret items replaced.
    public let path: String
    /// The status; `nil` if the connection was reset.
    public let status: Int?
    /// The time to make the answer.
    public let duration: Duration
    /// The ID of the request, as in its reply, in the client's errors and in the service's warnings; `nil` for media.
    public let requestID: String?
    /// When the answer was made, by the host's clock.
    package let end: Date

    public var description: String {
        let status = status.map { "\($0)" } ?? "reset"
        let request = requestID.map { ", request \($0)" } ?? ""
        return "\(method) \(path) → \(status), \(Int(saturating: duration.inMilliseconds.rounded())) ms\(request)"
    }
}

/// The latest 10,000 exchanges of a host, in the order in which they ended.
final class ExchangeJournal: Sendable {
    private let state = Locked((entries: BoundedQueue<JournalEntry>(limit: 10_000), count: 0))

    var entries: [JournalEntry] { state.withLock { $0.entries.elements } }
    var count: Int { state.withLock { $0.count } }

    func add(_ entry: JournalEntry) {
        state.withLock { state in
            state.count += 1
            state.entries.append(entry)
        }
    }
}
