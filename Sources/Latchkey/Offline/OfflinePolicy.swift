/// When stored keys are due for renewal, and how many there may be.
public struct OfflinePolicy: Sendable, Hashable {
    /// The share of a key's storage window that passes before the key is due for renewal, 0 to 1. Defaults to 0.5.
    public var renewalFraction: Double
    /// The largest stored key, in bytes. Defaults to 64 KiB, ten times a real one.
    public var largestKey: Int
    /// The maximum number of assets. Defaults to 1,000.
    public var assets: Int
    /// The maximum number of different keys that all assets together need. Defaults to 10,000.
    public var keys: Int

    /// Names of query items of a key URI, in any letter case, that belong to a session and do not name the key. A stored key is found even
    /// if their values have changed. Add a name only if it never distinguishes two keys. Defaults to `OfflinePolicy.sessionItems`.
    public var sessionItems: Set<String>

    /// The query items that belong to a session by default: `session`, `sessionid`, `session-id`, `session_id`, and Wowza's `wowzasessionid`.
    ///
    /// Source: github.com/google/ExoPlayer, issue 3606.
    public static let sessionItems: Set = ["session", "sessionid", "session-id", "session_id", "wowzasessionid"]

    /// Makes a policy. Each parameter is the property of its name.
    public init(
        renewalFraction: Double = 0.5, largestKey: Int = 1 << 16, assets: Int = 1_000, keys: Int = 10_000,
        sessionItems: Set<String> = Self.sessionItems
    ) {
        self.renewalFraction = renewalFraction
        self.largestKey = largestKey
        self.assets = assets
        self.keys = keys
        self.sessionItems = sessionItems
    }
}
