package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyServer

/// Records in Redis or Valkey: a hash of version and bytes each, which Redis forgets at its end.
///
/// A write is one script, so that nobody comes between comparing and setting. Reads and writes have a connection each. Redis has to run
/// with `maxmemory-policy noeviction`, or slots vanish.
///
/// Source: `Documentation/LicenseServer.md` §7.2.
package final class RedisRecordStore: RecordStore {
    /// How many replicas have to have a write, and how long that may take. Without it, a failover may lose the latest writes.
    package struct Replicas: Sendable, Hashable {
        package let count: Int
        package let time: Duration

        /// - Parameters:
        ///   - count: how many replicas, at least 1.
        ///   - time: how long it may take. Defaults to 100 ms.
        package init(_ count: Int, within time: Duration = .milliseconds(100)) {
            self.count = max(1, count)
            self.time = time
        }
    }

    package let engine = "redis"
    private let reader: RedisClient
    private let writer: RedisClient
    private let replicas: Replicas?

    /// - Parameters:
    ///   - address: where Redis is. Nothing is sent before the first call.
    ///   - replicas: how many replicas have to have a write; `nil` for none. A missing one is an error of the kind `unavailable`.
    ///   - limit: how long a command may take. Defaults to 50 ms; a write gets the replicas' time more.
    ///   - timekeeper: the time for limits. Defaults to the machine's.
    /// - Throws: `StoreError` if the process has no descriptor left.
    package init(
        _ address: RedisAddress, replicas: Replicas? = nil, limit: Duration = .milliseconds(50),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(StoreError) {
        reader = try RedisClient(address, limit: limit, timekeeper: timekeeper)
        writer = try RedisClient(address, limit: limit + (replicas?.time ?? .zero), timekeeper: timekeeper)
        self.replicas = replicas
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        let answers = try await reader.send([words("HMGET", key.redisName, "v", "b"), words("TIME")])
        let fields = try answers.first.checked()
        guard let now = try answers.last.checked().time else { throw Self.damaged }
        return RecordReading(record: try Self.record(fields.elements ?? []), now: now)
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date
    ) async throws(StoreError) -> Bool {
        let milliseconds = Int64(saturating: (end.timeIntervalSince1970 * 1_000).rounded(.up))
        return try await change(
            .write, key, replaced, [Array("\(record.version)".utf8), record.bytes, Array("\(milliseconds)".utf8)])
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await change(.remove, key, version, [])
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let start = RecordKey(kind, tenant: tenant, name: "").redisPrefix
        let names = try await names(start, prefix).filter { one in
            name.map { $0.utf8.lexicographicallyPrecedes(one.utf8) } ?? true
        }
        let wanted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(max(1, min(limit, 1_000)))
        guard !wanted.isEmpty else { return [] }
        let keys = wanted.map { RecordKey(kind, tenant: tenant, name: $0).redisName }
        let answers = try await reader.send(keys.flatMap { [words("HMGET", $0, "v", "b"), words("PEXPIRETIME", $0)] })
        var page: [NamedRecord] = []
        for (index, name) in wanted.enumerated() {
            let fields = try answers[index * 2].checked().elements ?? []
            // It may have ended since its name was found.
            guard let record = try Self.record(fields), case .integer(let end) = answers[index * 2 + 1] else {
                continue
            }
            page.append(NamedRecord(name: name, record: record, end: Date(timeIntervalSince1970: Double(end) / 1_000)))
        }
        return page
    }

    package func sum(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ value: @escaping @Sendable ([UInt8]) -> Int
    ) async throws(StoreError) -> RecordSum {
        let start = RecordKey(kind, tenant: tenant, name: "").redisPrefix
        var (seen, sum, cursor) = (Set<[UInt8]>(), 0, "0")
        repeat {
            let found = try await keys(start, "", from: cursor)
            let new = found.keys.compactMap(\.bytes).filter { seen.insert($0).inserted }
            cursor = found.next
            guard !new.isEmpty else { continue }
            for answer in try await reader.send(new.map { words("HGET") + [$0, Array("b".utf8)] }) {
                // It may have ended since its name was found.
                if let bytes = try answer.checked().bytes { sum += value(bytes) }
            }
        } while cursor != "0" && seen.count < most
        return RecordSum(sum, isWhole: cursor == "0")
    }

    /// The names of records, in no order. Looks at all keys of the database.
    private func names(_ start: String, _ prefix: String) async throws(StoreError) -> Set<String> {
        var (names, cursor) = (Set<String>(), "0")
        repeat {
            let found = try await keys(start, prefix, from: cursor)
            for key in found.keys.compactMap(\.text) where key.hasPrefix(start) && key.hasSuffix("}") {
                names.insert(String(key.dropFirst(start.count).dropLast()))
            }
            cursor = found.next
        } while cursor != "0"
        return names
    }

    /// Some keys of the database, and where to go on; `0` at the end. A key may come twice.
    private func keys(
        _ start: String, _ prefix: String, from cursor: String
    ) async throws(StoreError) -> (keys: [RESPValue], next: String) {
        let pattern = start.redisPattern + prefix.redisPattern + "*"
        let answers = try await reader.send([words("SCAN", cursor, "MATCH", pattern, "COUNT", "1000")])
        let parts = try answers.first.checked().elements ?? []
        guard parts.count == 2, let next = parts[0].text, let keys = parts[1].elements else { throw Self.damaged }
        return (keys, next)
    }

    private func change(
        _ script: RedisScript, _ key: RecordKey, _ replaced: UInt64?, _ arguments: [[UInt8]]
    ) async throws(StoreError) -> Bool {
        let rest =
            [Array("1".utf8), Array(key.redisName.utf8), Array((replaced.map { "\($0)" } ?? "").utf8)] + arguments
        let wait = replicas.map { [words("WAIT", "\($0.count)", "\($0.time.wholeMilliseconds)")] } ?? []
        var answers = try await writer.send([words("EVALSHA", script.digest) + rest] + wait)
        if case .error(let text) = answers.first, text.hasPrefix("NOSCRIPT") {
            answers = try await writer.send([words("EVAL", script.text) + rest] + wait)
        }
        let isDone = try answers.first.checked() == .integer(1)
        if isDone, let replicas {
            guard case .integer(let count) = try answers.last.checked(), count >= replicas.count else {
                throw .redis("Fewer than \(replicas.count) replicas have the write.")
            }
        }
        return isDone
    }

    private static func record(_ fields: [RESPValue]) throws(StoreError) -> Record? {
        guard fields.count == 2, fields.contains(where: { $0.bytes != nil }) else { return nil }
        guard let version = fields[0].text.flatMap({ UInt64($0) }), let bytes = fields[1].bytes else { throw damaged }
        return Record(version: version, bytes: bytes)
    }

    private static let damaged = StoreError.redis("Redis holds something else than a record.", .damaged)

    private func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
}

/// A script that runs in Redis.
private struct RedisScript {
    let text: String
    let digest: String

    private init(_ text: String) {
        self.text = text
        // Fails only without memory; then each call sends the whole script.
        digest = (try? MessageDigest.sha1(Array(text.utf8)).hexString) ?? ""
    }

    /// Sets version, bytes and end, if the version is still the one that was read.
    static let write = RedisScript(
        """
        if (redis.call('HGET', KEYS[1], 'v') or '') ~= ARGV[1] then return 0 end
        redis.call('HSET', KEYS[1], 'v', ARGV[2], 'b', ARGV[3])
        redis.call('PEXPIREAT', KEYS[1], ARGV[4])
        return 1
        """)

    static let remove = RedisScript(
        """
        if redis.call('HGET', KEYS[1], 'v') ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        return 1
        """)
}

extension RecordKey {
    /// `latchkey:account:{tenant:name}`: what stands in braces chooses the slot of a cluster.
    fileprivate var redisName: String { "\(redisPrefix)\(name)}" }
    fileprivate var redisPrefix: String { "latchkey:\(kind.rawValue):{\(tenant):" }
}

extension String {
    /// The text in a pattern, as itself.
    fileprivate var redisPattern: String {
        reduce(into: "") { pattern, character in
            if "*?[]\\^-".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }
}

extension RESPValue? {
    /// - Throws: `StoreError` for an error, and for no answer.
    fileprivate func checked() throws(StoreError) -> RESPValue {
        guard let value = self else { throw .redis("Redis gave no answer.") }
        return try value.checked()
    }
}

extension RESPValue {
    fileprivate func checked() throws(StoreError) -> RESPValue {
        if case .error(let text) = self { throw StoreError(redis: text) }
        return self
    }

    /// The date that `TIME` gives: seconds and microseconds.
    fileprivate var time: Date? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].text.flatMap({ Double($0) }),
            let micros = parts[1].text.flatMap({ Double($0) })
        else { return nil }
        return Date(timeIntervalSince1970: seconds + micros / 1_000_000)
    }
}
