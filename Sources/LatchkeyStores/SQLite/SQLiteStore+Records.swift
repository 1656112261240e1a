package import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension SQLiteStore {
    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        let now = timekeeper.date
        let record = try await reader.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT version, bytes FROM records WHERE tenant = ?1 AND kind = ?2 AND name = ?3 AND ends > ?4",
                key.columns + [.date(now)]
            ) { row throws(StoreError) in
                Record(version: UInt64(bitPattern: try row.integer(0)), bytes: try row.bytes(1))
            }.first
        }
        return RecordReading(record: record, now: now)
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        let now = timekeeper.date
        let isSweepDue = isSweepDue()
        let version = SQLiteValue.integer(Int64(bitPattern: record.version))
        let counted = CountedSeconds(ends)
        let values = key.columns + [version, .date(end), .bytes(record.bytes), .date(now), .bytes(counted.bytes)]
        return try await writer.write(.lazy) { connection throws(StoreError) in
            if isSweepDue { try Self.forgetEnded(connection, at: now) }
            guard let replaced else {
                // The replaced record has ended, with everything counted in it.
                guard try connection.run(Self.insert, values) == 1 else { return false }
                try connection.count(counted, insteadOf: nil, key)
                return true
            }
            let former = try connection.counted(at: key)
            guard try connection.run(Self.update, values + [.integer(Int64(bitPattern: replaced))]) == 1 else {
                return false
            }
            try connection.count(counted, insteadOf: former, key)
            return true
        }
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        let now = timekeeper.date
        return try await writer.write(.lazy) { connection throws(StoreError) in
            let former = try connection.counted(at: key)
            let isGone =
                try connection.run(
                    "DELETE FROM records WHERE tenant = ?1 AND kind = ?2 AND name = ?3 AND version = ?4 AND ends > ?5",
                    key.columns + [.integer(Int64(bitPattern: version)), .date(now)]) == 1
            if isGone { try connection.count(nil, insteadOf: former, key) }
            return isGone
        }
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let prefix = Array(prefix.utf8)
        let values: [SQLiteValue] = [
            .text(tenant), .text(kind.rawValue), .bytes(prefix), .bytes(NameRange.end(ofNamesWith: prefix)),
            .bytes(Array((name ?? "").utf8)), .date(timekeeper.date), .integer(Int64(StoreLimits.page(limit))),
        ]
        return try await pages.read { connection throws(StoreError) in
            try connection.rows(
                """
                SELECT name, version, bytes, ends FROM records
                WHERE tenant = ?1 AND kind = ?2 AND name >= max(?3, ?5) AND name < ?4 AND name <> ?5 AND ends > ?6
                ORDER BY name LIMIT ?7
                """, values
            ) { row throws(StoreError) in try row.namedRecord() }
        }
    }

    private static let insert = """
        INSERT INTO records (tenant, kind, name, version, ends, bytes, counted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8)
        ON CONFLICT (tenant, kind, name)
        DO UPDATE SET version = excluded.version, ends = excluded.ends, bytes = excluded.bytes, counted = excluded.counted
        WHERE records.ends <= ?7
        """

    private static let update = """
        UPDATE records SET version = ?4, ends = ?5, bytes = ?6, counted = ?8
        WHERE tenant = ?1 AND kind = ?2 AND name = ?3 AND version = ?9 AND ends > ?7
        """
}

extension RecordKey {
    var columns: [SQLiteValue] { [.text(tenant), .text(kind.rawValue), .bytes(Array(name.utf8))] }
}
