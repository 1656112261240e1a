package import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension RedisRecordStore {
    /// How many keys are read at a time, so that no license waits long behind them.
    private static let slice = 200

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let count = try await kept(kind, tenant)
        guard !count.isWhole else { return count }
        try await list(kind, tenant, most: most, ends)
        return try await kept(kind, tenant)
    }

    /// The count that the writes have kept: a sum over the shards, in one trip to each primary.
    private func kept(_ kind: RecordKey.Kind, _ tenant: String) async throws(StoreError) -> RecordCount {
        let first = layout.count(kind, tenant, 0)
        // Before the sum: if a count completed between the two, an incomplete sum would be called whole.
        let isWhole = try await isWhole(first, kind)
        // Each primary of a cluster has its own clock, and they differ slightly.
        let time = try await servers.send(
            [.init(key: first, commands: [words("EXISTS", first), words("TIME")])], on: .operators)
        guard let now = try time.first?.last.checked().time else { throw Self.damaged }
        let after = String(decoding: now.redisScore, as: UTF8.self)
        let requests = (0..<layout.shards).map { shard in
            let name = layout.count(kind, tenant, shard)
            return RedisServers.Request(key: name, commands: [words("ZCOUNT", name, "(\(after)", "+inf")])
        }
        var sum = 0
        for answers in try await servers.send(requests, on: .operators) {
            // A set has fewer members, and the sum stays a number.
            guard case .integer(let count) = try answers.first.checked(), let count = Int32(exactly: count), count >= 0
            else { throw Self.damaged }
            sum += Int(count)
        }
        return RecordCount(sum, isWhole: isWhole)
    }

    /// Whether all records of a tenant are in a set that counts or lists them. In a cluster every version has listed them.
    func isWhole(_ set: String, _ kind: RecordKey.Kind) async throws(StoreError) -> Bool {
        guard layout.shards == 1, kind.isCounted else { return true }
        let answers = try await servers.send([.init(key: set, commands: [words("ZSCORE", set, "")])], on: .operators)
        return try answers.first?.first.checked().bytes != nil
    }

    /// Lists records that another version of the server wrote, or that the list lost, then marks it complete. One at a time for each
    /// tenant.
    /// - Parameters:
    ///   - most: about how many are looked at before it returns; the rest is done in the background.
    ///   - ends: the ends of the things in a record's bytes, to count it, too; `nil` to list only.
    func list(
        _ kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: (@Sendable ([UInt8]) -> [Date])?
    ) async throws(StoreError) {
        let place = ends == nil ? layout.names(kind, tenant, 0) : layout.count(kind, tenant, 0)
        guard counting.withLock({ $0.insert(place).inserted }) else { return }
        do throws(StoreError) {
            guard let next = try await list(kind, tenant, from: "0", most: most, ends) else {
                counting.withLock { _ = $0.remove(place) }
                return
            }
            // There are many: the caller does not wait for the rest. After a failure, the next look begins again.
            startTask { [self] in
                _ = try? await list(kind, tenant, from: next, most: .max, ends)
                counting.withLock { _ = $0.remove(place) }
            }
        } catch {
            counting.withLock { _ = $0.remove(place) }
            throw error
        }
    }

    /// - Returns: where to continue; `nil` at the end.
    private func list(
        _ kind: RecordKey.Kind, _ tenant: String, from start: String, most: Int,
        _ ends: (@Sendable ([UInt8]) -> [Date])?
    ) async throws(StoreError) -> String? {
        let prefix = layout.prefix(kind, tenant)
        var (cursor, seen) = (start, 0)
        repeat {
            let found = try await keys(prefix, "", from: cursor, count: Self.slice)
            let names = found.keys.compactMap(\.text).filter { $0.hasPrefix(prefix) && $0.hasSuffix("}") }
            cursor = found.next
            seen += names.count
            if !names.isEmpty {
                try await list(
                    names.map { RecordKey(kind, tenant: tenant, name: String($0.dropFirst(prefix.count).dropLast())) },
                    ends)
            }
        } while cursor != "0" && seen < most
        guard cursor == "0" else { return cursor }
        let sets = [layout.names(kind, tenant, 0)] + (ends == nil ? [] : [layout.count(kind, tenant, 0)])
        for set in sets {
            let mark = RedisServers.Request(key: set, commands: [words("ZADD", set, "0", "")])
            _ = try await servers.send([mark], on: .operators).first?.first.checked()
        }
        return nil
    }

    private func list(
        _ keys: [RecordKey], _ ends: (@Sendable ([UInt8]) -> [Date])?
    ) async throws(StoreError) {
        let requests = keys.map { key in
            let name = layout.record(key)
            return RedisServers.Request(key: name, commands: [words("HMGET", name, "v", "b")])
        }
        var calls: [ScriptCall] = []
        for (key, answers) in zip(keys, try await servers.send(requests, on: .operators)) {
            // It may have ended since its name was found.
            guard let record = try Self.record(try answers.first.checked().elements ?? []) else { continue }
            let times = ends?(record.bytes).map(\.redisScore) ?? []
            calls.append(
                ScriptCall(
                    keys: layout.keys(of: key),
                    arguments: [Array("\(record.version)".utf8), Array(key.name.utf8)] + times))
        }
        guard !calls.isEmpty else { return }
        let script: RedisScript = ends == nil ? .listOnly : .countOnly
        for answers in try await run(script, calls, on: .operators) { _ = try answers.first.checked() }
    }

    /// Some keys of the database, and where to continue; `0` at the end. A key may come twice.
    package func keys(
        _ start: String, _ prefix: String, from cursor: String, count: Int = 1_000
    ) async throws(StoreError) -> (keys: [RESPValue], next: String) {
        let pattern = start.redisPattern + prefix.redisPattern + "*"
        let answers = try await servers.send(
            [.init(key: "", commands: [words("SCAN", cursor, "MATCH", pattern, "COUNT", "\(count)")])], on: .operators)
        let parts = try answers.first?.first.checked().elements ?? []
        guard parts.count == 2, let next = parts[0].text, let keys = parts[1].elements else { throw Self.damaged }
        return (keys, next)
    }
}
