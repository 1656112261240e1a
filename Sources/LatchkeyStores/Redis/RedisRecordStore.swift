package import Foundation
package import LatchkeyCore
package import LatchkeyEngines
package import LatchkeyVault

/// Records in Redis or Valkey: a hash of version and bytes each, which Redis forgets at its end.
///
/// A write is one script, so that nobody comes between comparing and setting. The scripts keep the ends of slots in a sorted set for each
/// tenant, so that nobody has to look through the records to count them. Reads and writes have a connection each. Redis has to run
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
    let reader: RedisClient
    let writer: RedisClient
    private let replicas: Replicas?
    /// The tenants whose records are being counted for the first time.
    let counting = Locked<Set<String>>([])

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
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        let milliseconds = Int64(saturating: (end.timeIntervalSince1970 * 1_000).rounded(.up))
        let arguments = [Array("\(record.version)".utf8), record.bytes, Array("\(milliseconds)".utf8)]
        guard key.kind.isCounted else { return try await change(.write, [key.redisName], key, replaced, arguments) }
        return try await change(
            .writeAndCount, [key.redisName, key.redisCountName], key, replaced,
            arguments + [Array(key.name.utf8)] + ends.map(\.redisScore))
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        guard key.kind.isCounted else { return try await change(.remove, [key.redisName], key, version, []) }
        return try await change(
            .removeAndCount, [key.redisName, key.redisCountName], key, version, [Array(key.name.utf8)])
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
    package func keys(
        _ start: String, _ prefix: String, from cursor: String, count: Int = 1_000
    ) async throws(StoreError) -> (keys: [RESPValue], next: String) {
        let pattern = start.redisPattern + prefix.redisPattern + "*"
        let answers = try await reader.send([words("SCAN", cursor, "MATCH", pattern, "COUNT", "\(count)")])
        let parts = try answers.first.checked().elements ?? []
        guard parts.count == 2, let next = parts[0].text, let keys = parts[1].elements else { throw Self.damaged }
        return (keys, next)
    }

    private func change(
        _ script: RedisScript, _ keys: [String], _ key: RecordKey, _ replaced: UInt64?, _ arguments: [[UInt8]]
    ) async throws(StoreError) -> Bool {
        let version = Array((replaced.map { "\($0)" } ?? "").utf8)
        let wait = replicas.map { [words("WAIT", "\($0.count)", "\($0.time.wholeMilliseconds)")] } ?? []
        let answers = try await run(script, [(keys, [version] + arguments)], then: wait)
        let isDone = try answers.first.checked() == .integer(1)
        if isDone, let replicas {
            guard case .integer(let count) = try answers.last.checked(), count >= replicas.count else {
                throw .redis("Fewer than \(replicas.count) replicas have the write.")
            }
        }
        return isDone
    }

    /// Runs a script for each call, in one go, by its digest; and by its text if Redis does not know it.
    /// - Returns: the answers, errors among them.
    func run(
        _ script: RedisScript, _ calls: [(keys: [String], arguments: [[UInt8]])], then more: [[[UInt8]]] = []
    ) async throws(StoreError) -> [RESPValue] {
        let rest = calls.map { call in
            [Array("\(call.keys.count)".utf8)] + call.keys.map { Array($0.utf8) } + call.arguments
        }
        let answers = try await writer.send(rest.map { words("EVALSHA", script.digest) + $0 } + more)
        guard case .error(let text) = answers.first, text.hasPrefix("NOSCRIPT") else { return answers }
        return try await writer.send(rest.map { words("EVAL", script.text) + $0 } + more)
    }

    private static func record(_ fields: [RESPValue]) throws(StoreError) -> Record? {
        guard fields.count == 2, fields.contains(where: { $0.bytes != nil }) else { return nil }
        guard let version = fields[0].text.flatMap({ UInt64($0) }), let bytes = fields[1].bytes else { throw damaged }
        return Record(version: version, bytes: bytes)
    }

    static let damaged = StoreError.redis("Redis holds something else than a record.", .damaged)

    func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
}

extension RecordKey {
    /// `latchkey:account:{tenant:name}`: what stands in braces chooses the slot of a cluster.
    var redisName: String { "\(redisPrefix)\(name)}" }
    var redisPrefix: String { "latchkey:\(kind.rawValue):{\(tenant):" }
    /// `latchkey:count:account:{tenant}`: when what counts ends, of all records of the tenant.
    var redisCountName: String { "latchkey:count:\(kind.rawValue):{\(tenant)}" }
}

extension RecordKey.Kind {
    /// Whether something in such records counts.
    fileprivate var isCounted: Bool { self == .account }
}

extension Date {
    /// Milliseconds since 1970, with a fraction.
    var redisScore: [UInt8] { Array("\(timeIntervalSince1970 * 1_000)".utf8) }
}

extension String {
    /// The text in a pattern, as itself.
    var redisPattern: String {
        reduce(into: "") { pattern, character in
            if "*?[]\\^-".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }
}

extension RESPValue? {
    /// - Throws: `StoreError` for an error, and for no answer.
    func checked() throws(StoreError) -> RESPValue {
        guard let value = self else { throw .redis("Redis gave no answer.") }
        return try value.checked()
    }
}

extension RESPValue {
    func checked() throws(StoreError) -> RESPValue {
        if case .error(let text) = self { throw StoreError(redis: text) }
        return self
    }

    /// The date that `TIME` gives: seconds and microseconds.
    var time: Date? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].text.flatMap({ Double($0) }),
            let micros = parts[1].text.flatMap({ Double($0) })
        else { return nil }
        return Date(timeIntervalSince1970: seconds + micros / 1_000_000)
    }
}
