public import LatchkeyCore

/// How often a player's adapter lets its player ask for a key once more: each key and reason has a count of its own.
///
/// The loader retries requests to a service by itself. This is for a player that turned down what it was answered with.
public struct RetryBudget: Sendable {
    private struct Entry: Hashable {
        let key: KeyURI
        let reason: String
    }

    private let limit: Int
    private var spent: [Entry: Int] = [:]

    /// - Parameter limit: how often a key is asked for again for the same reason.
    public init(_ limit: Int) { self.limit = limit }

    /// Takes one from the budget.
    /// - Returns: whether there was one left.
    public mutating func take(_ key: KeyURI, _ reason: String) -> Bool {
        let entry = Entry(key: key, reason: reason)
        guard spent[entry, default: 0] < limit else { return false }
        spent[entry, default: 0] += 1
        return true
    }

    /// Begins anew for a key that the player took.
    public mutating func refill(_ key: KeyURI) { spent = spent.filter { $0.key.key != key } }
}
