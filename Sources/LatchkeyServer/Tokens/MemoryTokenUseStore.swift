package import Foundation
import LatchkeyCore

/// Remembers used tokens in memory: for one node, and for tests. Forgets each at its end, and none before.
package final class MemoryTokenUseStore: TokenUseStore {
    fileprivate struct State {
        var bindings: [TokenUseDigest: TokenBinding] = [:]
        /// The tokens by the second at which they may be forgotten.
        var ends: [Int: [TokenUseDigest]] = [:]
        /// The second up to which tokens were forgotten.
        var forgotten = Int.min
    }

    private let state = Locked(State())
    private let limit: Int

    /// - Parameter limit: how many tokens are remembered at once; beyond it the store throws. Defaults to a million, some 200 MB.
    package init(limit: Int = 1_000_000) { self.limit = max(1, limit) }

    /// The number of tokens that are remembered.
    package var count: Int { state.withLock { $0.bindings.count } }

    /// - Throws: `TokenUseStoreFull`.
    package func bind(
        _ token: TokenUseDigest, to session: TokenUseDigest, at date: Date, until end: Date
    ) async throws -> TokenBinding {
        try state.withLock { state in
            state.forget(until: Int(saturating: date.timeIntervalSince1970))
            if let known = state.bindings[token] {
                return TokenBinding(session: known.session, date: known.date, isNew: false)
            }
            guard state.bindings.count < limit else { throw TokenUseStoreFull(limit: limit) }
            let binding = TokenBinding(session: session, date: date, isNew: true)
            state.bindings[token] = binding
            state.ends[Int(saturating: end.timeIntervalSince1970.rounded(.up)), default: []].append(token)
            return binding
        }
    }
}

extension MemoryTokenUseStore.State {
    /// Forgets what ends in a second or before. Looks once per second, so that a full store costs no more than an empty one.
    fileprivate mutating func forget(until second: Int) {
        guard second > forgotten else { return }
        forgotten = second
        for end in ends.keys.filter({ $0 <= second }) {
            for token in ends.removeValue(forKey: end) ?? [] { bindings[token] = nil }
        }
    }
}

/// A memory of used tokens that has no room. Forgetting one would let it be used again.
package struct TokenUseStoreFull: DiagnosableError, Equatable {
    /// How many tokens it holds.
    package let limit: Int

    package var code: String { "tokenUseStoreFull" }
    package var reason: String { "The memory of used tokens holds \(limit), and none of them has ended." }
    package var remedy: String { "Raise its limit, or shorten the tokens' lives." }
}
