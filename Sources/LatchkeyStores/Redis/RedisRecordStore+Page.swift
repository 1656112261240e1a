import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension RedisRecordStore {
    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        guard kind.isCounted else {
            throw .redis("Redis does not list such records.", .unfit, remedy: "Look up a record by its name.")
        }
        try await requireList(kind, tenant)
        let (prefix, wanted) = (Array(prefix.utf8), StoreLimits.page(limit))
        var names = RedisNames(layout, kind, tenant, prefix: prefix, after: name.map { Array($0.utf8) })
        var page: [NamedRecord] = []
        while page.count < wanted, let next = try await names.next(wanted - page.count, servers), !next.isEmpty {
            let found = try await records(next.map { RecordKey(kind, tenant: tenant, name: $0) })
            page += found.compactMap(\.record)
            let ended = Set(found.filter { $0.record == nil }.map { layout.shard(of: $0.key.name) })
            if !ended.isEmpty { try await forgetEnded(kind, tenant, in: ended) }
        }
        return page
    }

    private func records(_ keys: [RecordKey]) async throws(StoreError) -> [(key: RecordKey, record: NamedRecord?)] {
        let requests = keys.map { key in
            let name = layout.record(key)
            return RedisServers.Request(
                key: name, commands: [words("HMGET", name, "v", "b"), words("PEXPIRETIME", name)])
        }
        var records: [(key: RecordKey, record: NamedRecord?)] = []
        for (key, answers) in zip(keys, try await servers.send(requests, on: .operators)) {
            let fields = try answers.first.checked().elements ?? []
            // It may have ended since its name was listed.
            guard let record = try Self.record(fields), case .integer(let end) = try answers.last.checked() else {
                records.append((key, nil))
                continue
            }
            let date = Date(timeIntervalSince1970: Double(end) / 1_000)
            records.append((key, NamedRecord(name: key.name, record: record, end: date)))
        }
        return records
    }

    private func forgetEnded(_ kind: RecordKey.Kind, _ tenant: String, in shards: Set<Int>) async throws(StoreError) {
        let calls = shards.map { shard in
            let count = layout.count(kind, tenant, shard)
            return ScriptCall(keys: [count, count, layout.names(kind, tenant, shard)], arguments: words("1000"))
        }
        for answers in try await run(.forgetEnded, calls, on: .operators) { _ = try answers.first.checked() }
    }

    /// Lists the records of another version of the server, if this is the first call.
    /// - Throws: `StoreError` while others are being listed.
    private func requireList(_ kind: RecordKey.Kind, _ tenant: String) async throws(StoreError) {
        let names = layout.names(kind, tenant, 0)
        if try await isWhole(names, kind) { return }
        try await list(kind, tenant, most: 20_000, nil)
        guard try await isWhole(names, kind) else {
            throw .redis(
                "Accounts written by an earlier version of the server are being indexed.",
                remedy: "Try again in a minute: this happens once, in the background.")
        }
    }
}

/// The names of a tenant's records after a place, over all shards.
private struct RedisNames {
    private struct Shard {
        let names: String
        var found: ArraySlice<[UInt8]> = []
        /// Where to continue, in the syntax of `ZRANGEBYLEX`; `nil` at the end.
        var from: [UInt8]?
        /// The last name found.
        var last: [UInt8] = []
    }

    private var shards: [Shard]
    private let to: [UInt8]

    init(_ layout: RedisLayout, _ kind: RecordKey.Kind, _ tenant: String, prefix: [UInt8], after name: [UInt8]?) {
        // The empty name is the marker, not a name.
        let behind = name.flatMap { prefix.lexicographicallyPrecedes($0) || prefix == $0 ? $0 : nil }
        let start = behind ?? (prefix.isEmpty ? [] : nil)
        let from = start.map { [UInt8(ascii: "(")] + $0 } ?? [UInt8(ascii: "[")] + prefix
        shards = (0..<layout.shards).map { Shard(names: layout.names(kind, tenant, $0), from: from) }
        to = [UInt8(ascii: "(")] + NameRange.end(ofNamesWith: prefix)
    }

    /// The next names in the order of their bytes, up to a limit; `nil` at the end.
    mutating func next(_ limit: Int, _ servers: RedisServers) async throws(StoreError) -> [String]? {
        // Most shards have only a few of the next names.
        var share = shards.count == 1 ? limit : max(3, limit * 2 / shards.count)
        while true {
            let asked = shards.indices.filter { shards[$0].found.isEmpty && shards[$0].from != nil }
            if !asked.isEmpty { try await ask(asked, share, servers) }
            share = min(share * 4, 1_000)
            // Up to the smallest of the last names of shards that have more.
            let bound = shards.filter { $0.from != nil }.map(\.last).min { $0.lexicographicallyPrecedes($1) }
            let names = shards.flatMap(\.found).filter { name in
                bound.map { !$0.lexicographicallyPrecedes(name) } ?? true
            }.sorted { $0.lexicographicallyPrecedes($1) }.prefix(limit)
            guard let last = names.last else {
                if bound == nil { return nil }
                continue
            }
            for index in shards.indices {
                shards[index].found = shards[index].found.drop { !last.lexicographicallyPrecedes($0) }
            }
            return names.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private mutating func ask(_ asked: [Int], _ share: Int, _ servers: RedisServers) async throws(StoreError) {
        let requests = asked.map { index in
            let words = ["ZRANGEBYLEX", shards[index].names].map { Array($0.utf8) }
            let rest = ["LIMIT", "0", "\(share)"].map { Array($0.utf8) }
            return RedisServers.Request(
                key: shards[index].names, commands: [words + [shards[index].from ?? [], to] + rest])
        }
        for (index, answers) in zip(asked, try await servers.send(requests, on: .operators)) {
            let names = (try answers.first.checked().elements ?? []).compactMap(\.bytes)
            shards[index].found = names[...]
            shards[index].last = names.last ?? []
            let hasMore = names.count >= share
            shards[index].from = hasMore ? names.last.map { [UInt8(ascii: "(")] + $0 } : nil
        }
    }
}
