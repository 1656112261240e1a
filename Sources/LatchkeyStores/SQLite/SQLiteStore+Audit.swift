package import LatchkeySystem
package import LatchkeyVault

extension SQLiteStore {
    package func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        let values: [SQLiteValue] = [
            .integer(Int64(clamping: entry.sequence)), .text(entry.text), .bytes(entry.previous), .bytes(entry.hash),
        ]
        return try await writer.write(.full) { connection throws(StoreError) in
            try connection.run(
                """
                INSERT INTO audit (sequence, text, previous, hash)
                SELECT ?1, ?2, ?3, ?4 WHERE ?1 = (SELECT coalesce(max(sequence), 0) + 1 FROM audit)
                """, values) == 1
        }
    }

    package func last() async throws(StoreError) -> AuditEntry? {
        try await reader.read { connection throws(StoreError) in
            try connection.rows("SELECT sequence, text, previous, hash FROM audit ORDER BY sequence DESC LIMIT 1") {
                row throws(StoreError) in try row.auditEntry()
            }.first
        }
    }

    package func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await pages.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT sequence, text, previous, hash FROM audit WHERE sequence >= ?1 ORDER BY sequence LIMIT ?2",
                [.integer(Int64(clamping: sequence)), .integer(Int64(StoreLimits.page(limit)))]
            ) { row throws(StoreError) in try row.auditEntry() }
        }
    }
}
