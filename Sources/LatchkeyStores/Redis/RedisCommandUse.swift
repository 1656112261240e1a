/// The commands that the store and its scripts send, each in a form that writes nothing, runs no script and does not wait.
///
/// Redis checks the user's rights, its memory and its replicas before anything but the number of words, so each form gets far enough
/// to be refused. Any error other than the expected one is why the store would not work.
struct RedisCommandUse: Sendable, Hashable {
    /// The command, as in an access list.
    let name: String
    /// The whole command. Its key has the store's prefix, and is never written.
    let words: [String]
    /// The start of the one error that this form has where the command works; `nil` if it has none.
    let expected: String?

    private init(_ words: String..., named name: String? = nil, expecting expected: String? = nil) {
        (self.name, self.words, self.expected) = (name ?? words[0].lowercased(), words, expected)
    }

    private static let key = "latchkey:check"

    /// The commands that every store needs.
    static let all: [Self] = [
        Self("TIME"), Self("HMGET", key, "v"), Self("SCAN", "0", "MATCH", key, "COUNT", "1"), Self("PEXPIRETIME", key),
        Self("ZCOUNT", key, "0", "0"), Self("ZSCORE", key, "v"), Self("ZRANGEBYSCORE", key, "0", "0"),
        Self("ZRANGEBYLEX", key, "-", "+", "LIMIT", "0", "1"), Self("EXISTS", key), Self("HGET", key, "b"),
        // No script has this digest, and no script has a negative number of keys.
        Self("EVALSHA", String(repeating: "0", count: 40), "1", key, expecting: "NOSCRIPT"),
        Self("EVAL", "return 0", "-1", expecting: "ERR Number of keys"),
        // A value is missing, and the score is not a number.
        Self("HSET", key, "v", "1", "b", expecting: "ERR wrong number of arguments"),
        Self("ZADD", key, "none", "v", expecting: "ERR value is not a valid float"),
        // There is no such key.
        Self("PEXPIREAT", key, "1"), Self("ZREM", key, "v"), Self("DEL", key),
    ]

    /// The commands that nodes of a cluster get, too.
    static let ofClusters = [Self("ASKING"), Self("CLUSTER", "SLOTS", named: "cluster|slots")]

    /// The command of a store whose writes wait for replicas: here for zero replicas, so that it does not wait.
    static let ofReplicas = Self("WAIT", "0", "1")
}
