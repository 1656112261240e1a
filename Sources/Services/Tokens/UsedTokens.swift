import LatchkeyCore

/// The tokens that were used; the latest 10,000.
final class UsedTokens: Sendable {
    private let tokens = Locked<(all: Set<Secret>, order: [Secret])>(([], []))

    /// - Returns: false for a token that was used before.
    func add(_ token: Secret) -> Bool {
        tokens.withLock { tokens in
            guard tokens.all.insert(token).inserted else { return false }
            tokens.order.append(token)
            if tokens.order.count > 10_000 { tokens.all.remove(tokens.order.removeFirst()) }
            return true
        }
    }
}
