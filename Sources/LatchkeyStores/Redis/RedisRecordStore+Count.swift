package import Foundation
import LatchkeyCore
package import LatchkeyEngines
package import LatchkeyVault

extension RedisRecordStore {
    /// How many keys are looked at in one go, so that no license waits long behind them.
    private static let slice = 200

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let place = RecordKey(kind, tenant: tenant, name: "")
        let count = try await kept(place)
        // One at a time for each tenant.
        guard !count.isWhole, counting.withLock({ $0.insert(place.redisCountName).inserted }) else { return count }
        do throws(StoreError) {
            guard let next = try await countRecords(place, from: "0", most: most, ends) else {
                counting.withLock { _ = $0.remove(place.redisCountName) }
                return try await kept(place)
            }
            // There are many: nobody waits for the rest. What fails begins again with the next look.
            startTask { [self] in
                _ = try? await countRecords(place, from: next, most: .max, ends)
                counting.withLock { _ = $0.remove(place.redisCountName) }
            }
        } catch {
            counting.withLock { _ = $0.remove(place.redisCountName) }
            throw error
        }
        return try await kept(place)
    }

    /// What the writes have kept.
    private func kept(_ place: RecordKey) async throws(StoreError) -> RecordCount {
        let time = try await reader.send([words("TIME")])
        guard let now = try time.first.checked().time else { throw Self.damaged }
        let name = place.redisCountName
        let after = String(decoding: now.redisScore, as: UTF8.self)
        let answers = try await reader.send([words("ZCOUNT", name, "(\(after)", "+inf"), words("ZSCORE", name, "")])
        guard case .integer(let count) = try answers.first.checked() else { throw Self.damaged }
        return RecordCount(Int(clamping: count), isWhole: try answers.last.checked().bytes != nil)
    }

    /// Counts records that another version of the server wrote, or whose count was lost, and says so at the end.
    /// - Returns: where to go on; `nil` at the end.
    private func countRecords(
        _ place: RecordKey, from start: String, most: Int, _ ends: @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> String? {
        var (cursor, seen) = (start, 0)
        repeat {
            let found = try await keys(place.redisPrefix, "", from: cursor, count: Self.slice)
            let names = found.keys.compactMap(\.bytes)
            cursor = found.next
            seen += names.count
            if !names.isEmpty { try await countRecords(names, place, ends) }
        } while cursor != "0" && seen < most
        guard cursor == "0" else { return cursor }
        _ = try await writer.send([words("ZADD", place.redisCountName, "0", "")]).first.checked()
        return nil
    }

    private func countRecords(
        _ keys: [[UInt8]], _ place: RecordKey, _ ends: @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) {
        let records = try await reader.send(keys.map { words("HMGET") + [$0] + words("v", "b") })
        var calls: [(keys: [String], arguments: [[UInt8]])] = []
        for (key, record) in zip(keys, records) {
            let fields = try record.checked().elements ?? []
            let name = String(decoding: key, as: UTF8.self)
            // It may have ended since its name was found.
            guard fields.count == 2, let version = fields[0].bytes, let bytes = fields[1].bytes,
                name.hasPrefix(place.redisPrefix), name.hasSuffix("}")
            else { continue }
            let account = Array(name.dropFirst(place.redisPrefix.count).dropLast().utf8)
            calls.append(([name, place.redisCountName], [version, account] + ends(bytes).map(\.redisScore)))
        }
        guard !calls.isEmpty else { return }
        for answer in try await run(.countOnly, calls) { _ = try answer.checked() }
    }
}
