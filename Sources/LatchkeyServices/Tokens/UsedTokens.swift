import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// The latest 10,000 used tokens, each as its digest, so that long tokens take no more memory than short ones.
final class UsedTokens: Sendable {
    private let tokens = Locked(BoundedDictionary<Data, Bool>(limit: 10_000))

    /// - Returns: `false` for a token that was used before.
    func add(_ token: Secret) -> Bool {
        let digest = token.withUnsafeBytes { (try? MessageDigest.sha256(Array($0))).map { Data($0) } ?? Data($0) }
        return tokens.withLock { $0.updateValue(true, forKey: digest) == nil }
    }
}
