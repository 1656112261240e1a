import LatchkeyCore

/// Whose playback runs: who has a license of this node, until its lease ends. Their requests go first where more comes than can be done.
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

    /// How many are kept.
    package var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    /// Somebody got a license.
    /// - Parameters:
    ///   - name: whose playback it is, as the next request will tell: its session, or its token.
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

    /// Whether somebody's playback runs.
    package func runs(_ name: some Hashable, at uptime: Duration) -> Bool {
        let hash = name.hashValue
        return state.withLock { ($0.recent[hash] ?? $0.older[hash] ?? .zero) > uptime }
    }
}
