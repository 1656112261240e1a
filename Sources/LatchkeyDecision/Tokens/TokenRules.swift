import LatchkeyCore

/// A tenant's requirements on tokens, besides a valid signature.
///
/// Source: `Documentation/LicenseServer.md` §5.2; RFC 7519 §4.1.
package struct TokenRules: Sendable, Hashable {
    /// The longest token in bytes: 8 KiB.
    package static let sizeLimit = 8 * 1_024
    /// The limit of arrays and objects within each other: 8.
    package static let depthLimit = 8

    /// A token has to be for one of these; empty takes any.
    package var audiences: [String]
    /// A token has to come from one of these; empty takes any.
    package var issuers: [String]
    /// The header's `typ`, without regard to case and to a leading `application/`; `nil` takes any and none.
    package var type: String?
    /// How far the clock of the token service may be ahead: `nbf` and `iat` may lie so far in the future. `exp` has no leeway.
    package let leeway: Duration
    /// The longest time from `iat`, or from now without it, to `exp`.
    package var longestLife: Duration

    /// - Parameters:
    ///   - audiences: a token has to be for one of these. Defaults to any.
    ///   - issuers: a token has to come from one of these. Defaults to any.
    ///   - type: the header's `typ`. Defaults to any.
    ///   - leeway: of `nbf` and `iat`, clamped to 0 to 300 s. Defaults to 30 s.
    ///   - longestLife: the longest time from `iat` to `exp`. Defaults to 10 minutes.
    package init(
        audiences: [String] = [], issuers: [String] = [], type: String? = nil, leeway: Duration = .seconds(30),
        longestLife: Duration = .seconds(600)
    ) {
        self.audiences = audiences
        self.issuers = issuers
        self.type = type
        self.leeway = max(.zero, min(leeway, .seconds(300)))
        self.longestLife = longestLife
    }
}
