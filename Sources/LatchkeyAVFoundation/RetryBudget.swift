import Latchkey

/// Limits how often a player may request a key again, per key and reason.
///
/// The loader retries requests to a service itself. This limits retries of a player that rejected an answer.
nonisolated struct RetryBudget: Sendable {
    private struct Entry: Hashable {
        let key: KeyURI
        let reason: String
    }

    private let limit: Int
    private var spent: [Entry: Int] = [:]

    /// - Parameter limit: how often a key is requested again for the same reason.
    init(_ limit: Int) { self.limit = limit }

    /// Spends one retry.
    /// - Returns: whether one was left.
    mutating func take(_ key: KeyURI, _ reason: String) -> Bool {
        let entry = Entry(key: key, reason: reason)
        guard spent[entry, default: 0] < limit else { return false }
        spent[entry, default: 0] += 1
        return true
    }

    /// Resets the count of a key that the player accepted.
    mutating func reset(_ key: KeyURI) { spent = spent.filter { $0.key.key != key } }
}
