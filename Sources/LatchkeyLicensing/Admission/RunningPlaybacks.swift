import LatchkeyCore

/// The running playbacks: each has a license of this node, until its lease ends. Under overload their requests go first.
///
/// Only hashes are kept, in bounded memory. When there are too many, those noted longest ago are forgotten: their next request counts as
/// a start.
package final class RunningPlaybacks: Sendable {
    private struct State {
        var recent: [Int: Duration] = [:]
        var older: [Int: Duration] = [:]
    }

    private let generation: Int
    private let state = Locked(State())

    /// - Parameter most: how many are kept at most. Defaults to 500,000, some 25 MB.
    package init(most: Int = 500_000) { generation = max(1, most / 2) }

    /// The number kept.
    package var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    /// Notes a license.
    /// - Parameters:
    ///   - name: the playback's name, as its next request will state it: its session, or its token.
    ///   - end: when the license's lease ends, by the clock of `runs`.
    package func note(_ name: some Hashable, until end: Duration) {
        let hash = name.hashValue
        state.withLock { state in
            if state.recent.count >= generation, state.recent[hash] == nil {
                state.older = state.recent
                state.recent = [:]
            }
            state.recent[hash] = end
        }
    }

    /// Whether a playback is running.
    package func runs(_ name: some Hashable, at uptime: Duration) -> Bool {
        let hash = name.hashValue
        return state.withLock { ($0.recent[hash] ?? $0.older[hash] ?? .zero) > uptime }
    }
}
