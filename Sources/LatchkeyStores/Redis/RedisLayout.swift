import LatchkeyVault

/// The names of keys.
///
/// Where a cluster spreads them, the accounts of a tenant are in shards: the text in braces chooses the slot, so that an account and the
/// sets that count and list it are on one primary, and one script changes all three.
///
/// Source: `Documentation/Server/Stores.md`.
struct RedisLayout: Sendable {
    /// The number of shards of a tenant's accounts.
    let shards: Int

    /// One server: `latchkey:account:{TENANT:NAME}`, `latchkey:count:account:{TENANT}`, `latchkey:names:account:{TENANT}`.
    static let server = RedisLayout(shards: 1)
    /// A cluster: `latchkey:account:{s:TENANT:SHARD}NAME`, `latchkey:count:account:{s:TENANT:SHARD}`, and the same with `names`.
    /// The number of shards is part of the names: with another number, no existing record would be found.
    static let cluster = RedisLayout(shards: 1_024)

    private var isOne: Bool { shards == 1 }

    /// The shard of a record.
    func shard(of name: String) -> Int { isOne ? 0 : Int(RedisSlot.crc(name.utf8)) % shards }

    func record(_ key: RecordKey) -> String {
        isOne || !key.kind.isCounted
            ? "\(prefix(key.kind, key.tenant))\(key.name)}"
            : "latchkey:\(key.kind.rawValue):\(tag(shard(of: key.name), key.tenant))\(key.name)"
    }

    /// The start of the names of a tenant's records on one server; they end with a brace.
    func prefix(_ kind: RecordKey.Kind, _ tenant: String) -> String { "latchkey:\(kind.rawValue):{\(tenant):" }

    /// The ends of a shard's things: slots, and records with times below zero.
    func count(_ kind: RecordKey.Kind, _ tenant: String, _ shard: Int) -> String {
        "latchkey:count:\(kind.rawValue):\(tag(shard, tenant))"
    }

    /// The names of a shard's records.
    func names(_ kind: RecordKey.Kind, _ tenant: String, _ shard: Int) -> String {
        "latchkey:names:\(kind.rawValue):\(tag(shard, tenant))"
    }

    /// The keys of a script that changes a record.
    func keys(of key: RecordKey) -> [String] {
        guard key.kind.isCounted else { return [record(key)] }
        let shard = shard(of: key.name)
        return [record(key), count(key.kind, key.tenant, shard), names(key.kind, key.tenant, shard)]
    }

    // The letter keeps a brace in a tenant's name from emptying the tag; digits at the end spread shards evenly over the slots.
    private func tag(_ shard: Int, _ tenant: String) -> String {
        guard !isOne else { return "{\(tenant)}" }
        let digits = String(shard, radix: 16)
        return "{s:\(tenant):\(String(repeating: "0", count: 3 - digits.count))\(digits)}"
    }
}

extension RecordKey.Kind {
    /// Whether such records are listed, and their things counted.
    var isCounted: Bool { self == .account }
}
