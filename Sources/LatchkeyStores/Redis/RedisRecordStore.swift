package import Foundation
package import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// Records in Redis or Valkey, one server or a cluster: a hash of version and bytes for each, which expires at its end.
///
/// A write is one script, so that comparing and setting are atomic. The scripts keep the ends of slots and the names of accounts in
/// sorted sets, so that counting and listing do not scan the records. Reads, writes and operators' queries have separate
/// connections. Redis has to run with `maxmemory-policy noeviction`, or slots vanish.
///
/// Source: `Documentation/Server/Stores.md`.
package final class RedisRecordStore: SingleTripStore {
    /// How many replicas must have a write, and how long that may take. Without it, a failover may lose the latest writes.
    package struct Replicas: Sendable, Hashable {
        package let count: Int
        package let time: Duration

        /// - Parameters:
        ///   - count: the number of replicas, at least 1.
        ///   - time: how long it may take. Defaults to 100 ms.
        package init(_ count: Int, within time: Duration = .milliseconds(100)) {
            self.count = max(1, count)
            self.time = time
        }
    }

    /// How long an operator's query may take.
    package static let patience = Duration.seconds(5)

    package let engine = "redis"
    let servers: RedisServers
    let layout: RedisLayout
    private let replicas: Replicas?
    /// The lanes of reads and writes.
    private let lanes: (reads: RedisServers.Lane, writes: RedisServers.Lane)
    private let memory: RedisMemory
    /// The tenants whose records are being counted for the first time.
    let counting = Locked<Set<String>>([])

    /// - Parameters:
    ///   - address: the address of Redis. Nothing is sent before the first call.
    ///   - replicas: how many replicas must have a write; `nil` for none. A missing one is an error of the kind `unavailable`.
    ///   - limit: how long a command may take. Defaults to 50 ms; a write gets the replicas' time in addition.
    ///   - timekeeper: the time for limits. Defaults to the machine's.
    /// - Throws: `StoreError` if the process has no descriptor left.
    package init(
        _ address: RedisAddress, replicas: Replicas? = nil, limit: Duration = .milliseconds(50),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(StoreError) {
        let limits: [RedisServers.Lane: Duration] = [
            .reads: limit, .writes: limit + (replicas?.time ?? .zero), .operators: max(limit, Self.patience),
        ]
        servers = try RedisServers(address, limits: limits, timekeeper: timekeeper)
        layout = servers.cluster == nil ? .server : .cluster
        self.replicas = replicas
        lanes = (.reads, .writes)
        memory = RedisMemory(timekeeper: timekeeper)
    }

    private init(of store: RedisRecordStore) {
        (servers, layout, replicas, memory) = (store.servers, store.layout, store.replicas, store.memory)
        lanes = (.operators, .operators)
    }

    /// The same records for operators: over separate connections, and with more patience.
    package var forOperators: RedisRecordStore { RedisRecordStore(of: self) }

    /// How often nodes of a cluster redirected a request or put it off.
    package var redirections: [ClusterRedirection: UInt64] { servers.cluster?.redirections ?? [:] }

    // MARK: Records

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        let name = layout.record(key)
        let answers =
            try await servers.send(
                [.init(key: name, commands: [words("HMGET", name, "v", "b"), words("TIME")])], on: lanes.reads
            ).first ?? []
        let fields = try answers.first.checked()
        guard let now = try answers.last.checked().time else { throw Self.damaged }
        let reading = RecordReading(record: try Self.record(fields.elements ?? []), now: now)
        memory.note(now, of: servers.place(of: name))
        return reading
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        guard key.kind.isCounted else {
            let arguments = [replaced.digits, record.version.digits, record.bytes, end.redisTime]
            return try await change(.write, key) { arguments + [Self.word($0)] }.first.checked() == .integer(1)
        }
        return try await exchange(record, at: key, replacing: replaced, decided: [], until: end, counting: ends) == nil
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        memory.forget(key)
        let arguments = [version.digits] + (key.kind.isCounted ? [Array(key.name.utf8)] : [])
        let script: RedisScript = key.kind.isCounted ? .removeAndCount : .remove
        // Once: if an answer was lost, a missing record does not reveal who removed it.
        return try await changeOnce(script, key, arguments).first.checked() == .integer(1)
    }

    // MARK: One trip

    package func part(of key: RecordKey) -> Int {
        servers.cluster?.part(of: RedisSlot(of: layout.record(key))) ?? 0
    }

    package func guess(_ key: RecordKey) -> RecordReading? {
        guard key.kind.isCounted, let now = memory.now(of: servers.place(of: layout.record(key))) else { return nil }
        return RecordReading(record: memory.record(key, at: now), now: now, isGuess: true)
    }

    package func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading? {
        guard key.kind.isCounted else {
            let isWritten = try await write(
                record, at: key, replacing: reading.record?.version, until: end, counting: ends)
            return isWritten ? nil : try await read(key)
        }
        return try await exchange(
            record, at: key, replacing: reading.record?.version, decided: reading.isGuess ? reading.now.redisNow : [],
            until: end, counting: ends)
    }

    private func exchange(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, decided: [UInt8], until end: Date,
        counting ends: [Date]
    ) async throws(StoreError) -> RecordReading? {
        let times = ends.map(\.redisScore)
        let answers = try await change(.writeAndCount, key) { isAgain in
            [
                replaced.digits, record.version.digits, record.bytes, end.redisTime, decided, Self.word(isAgain),
                Array(key.name.utf8),
            ] + times
        }
        let held = try held(answers, key)
        if held == nil { memory.note(record, until: end, at: key) }
        return held
    }

    package func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer {
        let life = Array("\(Int64(saturating: slot.life.clamped.inMilliseconds.rounded()))".utf8)
        let arguments = [Array(slot.session.utf8), Array("\(slot.fence)".utf8), life, Array(key.name.utf8)]
        let answers = try await change(.extend, key) { _ in arguments }
        if let held = try held(answers, key) { return .held(held) }
        // The record has a new version now, which only the store knows.
        memory.forget(key)
        guard case .integer(let end)? = try answers.first.checked().elements?.last else { throw Self.damaged }
        return .extended(until: Date(timeIntervalSince1970: Double(end) / 1_000))
    }

    /// The record that a script found instead of the expected one; `nil` if it did its work. Notes the clock.
    private func held(_ answers: [RESPValue], _ key: RecordKey) throws(StoreError) -> RecordReading? {
        let parts = try answers.first.checked().elements ?? []
        guard parts.count > 2, let now = RESPValue.list(Array(parts[1...2])).time else { throw Self.damaged }
        memory.note(now, of: servers.place(of: layout.record(key)))
        guard parts[0] != .integer(1) else { return nil }
        return RecordReading(record: try Self.record(Array(parts.dropFirst(3))), now: now)
    }

    // MARK: Scripts

    /// Runs a script that may run twice on a record. In a cluster it is retried once with the primary that took over, if there is time.
    /// - Parameter arguments: the script's arguments; for the second time, `true`.
    /// - Throws: `StoreError` of the first time, if there is no second.
    private func change(
        _ script: RedisScript, _ key: RecordKey, _ arguments: (Bool) -> [[UInt8]]
    ) async throws(StoreError) -> [RESPValue] {
        let began = servers.timekeeper.uptime
        let name = layout.record(key)
        let before = servers.place(of: name)
        do throws(StoreError) { return try await changeOnce(script, key, arguments(false)) } catch {
            let limit = servers.limits[lanes.writes] ?? .zero
            // If the cluster has no map, the first error says how unavailable it is.
            guard error.kind == .unavailable, let cluster = servers.cluster, let before,
                servers.timekeeper.uptime - began < limit / 2,
                let now = (try? await cluster.refreshed())?[RedisSlot(of: name)], now != before
            else { throw error }
            return try await changeOnce(script, key, arguments(true))
        }
    }

    /// The argument that warns a script that it may have done its work before.
    private static func word(_ isAgain: Bool) -> [UInt8] { Array((isAgain ? "again" : "").utf8) }

    private func changeOnce(
        _ script: RedisScript, _ key: RecordKey, _ arguments: [[UInt8]]
    ) async throws(StoreError) -> [RESPValue] {
        let wait = replicas.map { [words("WAIT", "\($0.count)", "\($0.time.wholeMilliseconds)")] } ?? []
        let call = ScriptCall(keys: layout.keys(of: key), arguments: arguments)
        let answers = try await run(script, [call], then: wait, on: lanes.writes).first ?? []
        let isDone = try answers.first.checked().isDone
        if isDone, let replicas {
            guard case .integer(let count) = try answers.last.checked(), count >= replicas.count else {
                throw .redis("Fewer than \(replicas.count) replicas received the write.")
            }
        }
        return answers
    }

    struct ScriptCall: Sendable {
        let keys: [String]
        let arguments: [[UInt8]]
    }

    /// Runs a script for each call, together for each server, by its digest; and by its text if Redis does not know it.
    /// - Returns: the answers of each call, including errors.
    func run(
        _ script: RedisScript, _ calls: [ScriptCall], then more: [[[UInt8]]] = [], on lane: RedisServers.Lane
    ) async throws(StoreError) -> [[RESPValue]] {
        func requests(_ calls: [ScriptCall], _ words: [[UInt8]]) -> [RedisServers.Request] {
            calls.map { call in
                let keys = [Array("\(call.keys.count)".utf8)] + call.keys.map { Array($0.utf8) }
                return .init(key: call.keys.first ?? "", commands: [words + keys + call.arguments] + more)
            }
        }
        var answers = try await servers.send(requests(calls, words("EVALSHA", script.digest)), on: lane)
        let unknown = answers.indices.filter { index in
            guard case .error(let text) = answers[index].first else { return false }
            return text.hasPrefix("NOSCRIPT")
        }
        guard !unknown.isEmpty else { return answers }
        let again = try await servers.send(requests(unknown.map { calls[$0] }, words("EVAL", script.text)), on: lane)
        for (index, answer) in zip(unknown, again) { answers[index] = answer }
        return answers
    }

    static func record(_ fields: [RESPValue]) throws(StoreError) -> Record? {
        guard fields.count == 2, fields.contains(where: { $0.bytes != nil }) else { return nil }
        guard let version = fields[0].text.flatMap({ UInt64($0) }), let bytes = fields[1].bytes else { throw damaged }
        return Record(version: version, bytes: bytes)
    }

    static let damaged = StoreError.redis("Redis holds a value that is not a record.", .damaged)

    func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
}

extension Date {
    /// Milliseconds since 1970, with a fraction.
    var redisScore: [UInt8] { Array("\(timeIntervalSince1970 * 1_000)".utf8) }
    /// Milliseconds since 1970, rounded up.
    fileprivate var redisTime: [UInt8] {
        Array("\(Int64(saturating: (timeIntervalSince1970 * 1_000).rounded(.up)))".utf8)
    }
    /// Milliseconds since 1970, of a date in whole milliseconds.
    fileprivate var redisNow: [UInt8] { Array("\(Int64(saturating: (timeIntervalSince1970 * 1_000).rounded()))".utf8) }
}

extension UInt64 {
    fileprivate var digits: [UInt8] { Array("\(self)".utf8) }
}

extension UInt64? {
    /// Empty without a record.
    fileprivate var digits: [UInt8] { map(\.digits) ?? [] }
}

extension String {
    /// The text as a pattern that matches only itself.
    var redisPattern: String {
        reduce(into: "") { pattern, character in
            if "*?[]\\^-".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }
}

extension RESPValue? {
    /// - Throws: `StoreError` for an error, and for a missing answer.
    func checked() throws(StoreError) -> RESPValue {
        guard let value = self else { throw .redis("Redis did not respond.") }
        return try value.checked()
    }
}

extension RESPValue {
    func checked() throws(StoreError) -> RESPValue {
        if case .error(let text) = self { throw StoreError(redis: text) }
        return self
    }

    /// Whether a script reports success: 1, alone or first.
    fileprivate var isDone: Bool { self == .integer(1) || elements?.first == .integer(1) }

    /// The date in an answer to `TIME`: seconds and microseconds.
    var time: Date? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].text.flatMap({ Double($0) }),
            let micros = parts[1].text.flatMap({ Double($0) })
        else { return nil }
        return Date(timeIntervalSince1970: seconds + micros / 1_000_000)
    }
}
