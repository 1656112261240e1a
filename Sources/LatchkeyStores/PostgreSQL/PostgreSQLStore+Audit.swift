package import LatchkeySystem
package import LatchkeyVault

extension PostgreSQLStore {
    package func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        try await work.run(
            PostgreSQLCall(
                "audit-append",
                """
                INSERT INTO latchkey.audit (sequence, text, previous, hash)
                SELECT $1, $2, $3, $4 WHERE $1 = (SELECT coalesce(max(sequence), 0) + 1 FROM latchkey.audit)
                ON CONFLICT DO NOTHING
                """,
                [
                    .integer(Int64(clamping: entry.sequence)), .text(entry.text), .bytes(entry.previous),
                    .bytes(entry.hash),
                ]),
            within: settings.keyLimit
        ).count == 1
    }

    package func last() async throws(StoreError) -> AuditEntry? {
        try await readers.run(
            PostgreSQLCall(
                "audit-last", "SELECT sequence, text, previous, hash FROM latchkey.audit ORDER BY sequence DESC LIMIT 1"
            ),
            within: settings.keyLimit
        ).rows.first.map { row throws(StoreError) in try row.auditEntry() }
    }

    package func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await readers.run(
            PostgreSQLCall(
                "audit-entries",
                "SELECT sequence, text, previous, hash FROM latchkey.audit WHERE sequence >= $1 ORDER BY sequence LIMIT $2",
                [.integer(Int64(clamping: sequence)), .integer(Int64(StoreLimits.page(limit)))]),
            within: settings.pageLimit
        ).rows.map { row throws(StoreError) in try row.auditEntry() }
    }
}
