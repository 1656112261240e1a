import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// The tokens that were verified latest with one set of keys: a viewer's next key, and each renewal, comes with the same token.
///
/// They are known by their digests; a token's text is not kept. One that failed is not kept either.
struct VerifiedTokens: Sendable {
    /// A token, and the rules by which it is verified.
    struct Name: Hashable {
        private let digest: [UInt8]
        private let rules: TokenRules

        /// - Returns: `nil` without memory for a digest, and for a token that is too long to be verified.
        init?(_ text: String, _ rules: TokenRules) {
            guard text.utf8.count <= TokenRules.sizeLimit, let digest = try? MessageDigest.sha256(Array(text.utf8))
            else { return nil }
            (self.digest, self.rules) = (digest, rules)
        }

        // The digest is as good as random.
        func hash(into hasher: inout Hasher) {
            digest.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(8))) }
        }
    }

    private struct Verified: Sendable {
        let token: VerifiedToken
        let date: Date
    }

    /// How many are kept; some 20 MB.
    static let limit = 16_384
    private var tokens = RecentValues<Name, Verified>(limit: limit)

    /// A token that is still good; `nil` for one that is not known, has ended, or was verified at a later time than now.
    mutating func token(_ name: Name, at date: Date) -> VerifiedToken? {
        guard let verified = tokens.value(name), verified.date <= date, date < verified.token.expiry else {
            return nil
        }
        return verified.token
    }

    mutating func remember(_ token: VerifiedToken, as name: Name, at date: Date) {
        tokens.set(Verified(token: token, date: date), for: name)
    }
}
