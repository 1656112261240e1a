import LatchkeyCore

/// One exchange as a log shows it.
public struct JournalEntry: Sendable, Hashable, CustomStringConvertible {
    /// The method.
    public let method: String
    /// Path and query, the values of secret items replaced.
    public let path: String
    /// The status; nil where the connection was reset.
    public let status: Int?
    /// How long the answer took to make.
    public let duration: Duration

    public var description: String {
        let status = status.map { "\($0)" } ?? "reset"
        return "\(method) \(path) → \(status), \(Int(duration.inMilliseconds.rounded())) ms"
    }
}

/// The exchanges of a host, in the order in which they ended; the latest 10,000.
final class ExchangeJournal: Sendable {
    private static let limit = 10_000
    private let state = Locked<(entries: [JournalEntry], count: Int)>(([], 0))

    var entries: [JournalEntry] { state.withLock { $0.entries } }
    var count: Int { state.withLock { $0.count } }

    func add(_ entry: JournalEntry) {
        state.withLock { state in
            state.count += 1
            // Drops many at once, so that a full journal costs no more than an empty one.
            if state.entries.count >= 2 * Self.limit { state.entries.removeFirst(Self.limit) }
            state.entries.append(entry)
        }
    }
}
