import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
package import LatchkeyVault

extension SQLiteStore {
    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        for row in rows { try row.check(for: engine) }
        return try await writer.write(.full) { connection throws(StoreError) in
            var inForce: [KeyRow] = []
            for row in rows {
                let added = try connection.run(Self.insertKey, row.values)
                inForce += added == 1 ? [row] : try Self.row(row.kid, row.sealed.tenant, connection)
            }
            return inForce
        }
    }

    static let insertKey = """
        INSERT INTO keys (\(KeyColumns.all)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        ON CONFLICT DO NOTHING
        """

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        try await reader.read { connection throws(StoreError) in
            var rows: [KeyRow] = []
            for kid in kids { rows += try Self.row(kid, tenant, connection) }
            return rows
        }
    }

    private static func row(_ kid: KeyID, _ tenant: String, _ connection: SQLiteConnection) throws(StoreError)
        -> [KeyRow]
    {
        try connection.rows(
            "SELECT \(KeyColumns.all) FROM keys WHERE tenant = ?1 AND kid = ?2",
            [.text(tenant), .bytes(Array(kid.bytes))]
        ) { row throws(StoreError) in try row.keyRow() }
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        let prefix = Array(search.utf8)
        let limit = StoreLimits.page(limit)
        let start = KeyStart(after: cursor, prefix: prefix)
        let named = KeyStart(after: cursor, prefix: [])
        return try await pages.read { connection throws(StoreError) in
            let found = try connection.rows(
                """
                SELECT \(KeyColumns.all) FROM keys
                WHERE tenant = ?1 AND (content, kid) >= (?2, ?3) AND content < ?4 ORDER BY content, kid LIMIT ?5
                """,
                [
                    .text(tenant), .bytes(start.content), .bytes(start.kid), .bytes(NameRange.end(ofNamesWith: prefix)),
                    .integer(Int64(limit)),
                ]
            ) { row throws(StoreError) in try row.keyRow() }
            guard let kid = KeyID(search) else { return found }
            let one = try connection.rows(
                "SELECT \(KeyColumns.all) FROM keys WHERE tenant = ?1 AND kid = ?2 AND (content, kid) >= (?3, ?4)",
                [.text(tenant), .bytes(Array(kid.bytes)), .bytes(named.content), .bytes(named.kid)]
            ) { row throws(StoreError) in try row.keyRow() }
            return KeyRow.merged(one, found, limit: limit)
        }
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        try await pages.read { connection throws(StoreError) in
            Int(try connection.number("SELECT count(*) FROM keys WHERE tenant = ?1", [.text(tenant)]))
        }
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try await writer.write(.full) { connection throws(StoreError) in
            var replaced = 0
            for row in rows {
                let place: (table: String, column: String, value: SQLiteValue) =
                    switch row.subject {
                    case .contentKey(let kid): ("keys", "kid", .bytes(Array(kid.bytes)))
                    case .seed(let version): ("seeds", "version", .version(version.number))
                    }
                replaced += try connection.run(
                    """
                    UPDATE \(place.table) SET data_key = ?3, nonce = ?4, sealed = ?5
                    WHERE tenant = ?1 AND \(place.column) = ?2 AND data_key < ?3
                    """,
                    [.text(row.tenant), place.value, .version(row.dataKey), .bytes(row.nonce), .bytes(row.sealed)])
            }
            return replaced
        }
    }

    package func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow]
    {
        try await pages.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT \(KeyColumns.all) FROM keys WHERE tenant = ?1 AND data_key < ?2 LIMIT ?3",
                [.text(tenant), .version(dataKey), .integer(Int64(StoreLimits.page(limit)))]
            ) { row throws(StoreError) in try row.keyRow() }
        }
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        try await writer.write(.full) { connection throws(StoreError) in
            try connection.run(
                "UPDATE keys SET disabled = ?3 WHERE tenant = ?1 AND kid = ?2",
                [.text(tenant), .bytes(Array(kid.bytes)), .flag(isDisabled)]) == 1
        }
    }

    package func block(_ block: Block) async throws(StoreError) {
        try block.check(for: engine)
        _ = try await writer.write(.full) { connection throws(StoreError) in
            try connection.run(Self.setBlock, block.values)
        }
    }

    static let setBlock = "INSERT OR REPLACE INTO blocks (\(BlockColumns.all)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"

    package func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        try await writer.write(.full) { connection throws(StoreError) in
            try connection.run(
                "DELETE FROM blocks WHERE tenant = ?1 AND kind = ?2 AND name = ?3",
                [.text(subject.tenant), .text(subject.kind.rawValue), .text(subject.name)]) == 1
        }
    }

    package func blocks() async throws(StoreError) -> [Block] { try await pages.read(Self.blocks) }

    static func blocks(_ connection: SQLiteConnection) throws(StoreError) -> [Block] {
        try connection.rows("SELECT \(BlockColumns.all) FROM blocks ORDER BY tenant, kind, name") {
            row throws(StoreError) in try row.block()
        }
    }

    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try await reader.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT tenant, version, data_key, nonce, sealed FROM seeds WHERE tenant = ?1 ORDER BY version",
                [.text(tenant)]
            ) { row throws(StoreError) in try row.seed() }
        }
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        let version = try seed.seedVersion(for: engine)
        return try await writer.write(.full) { connection throws(StoreError) in
            try connection.run(
                "INSERT INTO seeds (tenant, version, data_key, nonce, sealed) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
                [
                    .text(seed.tenant), .version(version), .version(seed.dataKey), .bytes(seed.nonce),
                    .bytes(seed.sealed),
                ]) == 1
        }
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        try await reader.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT tenant, version, wrapper, nonce, wrapped FROM data_keys ORDER BY tenant, version"
            ) {
                row throws(StoreError) in try row.dataKey()
            }
        }
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try StoreError.check(dataKey.tenant, "tenant", StoreLimits.tenantBytes, engine)
        let values: [SQLiteValue] = [
            .text(dataKey.tenant), .version(dataKey.version), .text(dataKey.wrapper), .bytes(dataKey.nonce),
            .bytes(dataKey.wrapped),
        ]
        return try await writer.write(.full) { connection throws(StoreError) in
            guard let wrapper else {
                return try connection.run(
                    """
                    INSERT INTO data_keys (tenant, version, wrapper, nonce, wrapped) VALUES (?1, ?2, ?3, ?4, ?5)
                    ON CONFLICT DO NOTHING
                    """, values) == 1
            }
            return try connection.run(
                """
                UPDATE data_keys SET wrapper = ?3, nonce = ?4, wrapped = ?5
                WHERE tenant = ?1 AND version = ?2 AND wrapper = ?6
                """, values + [.text(wrapper)]) == 1
        }
    }
}

extension Block {
    /// The values of `BlockColumns.all`.
    var values: [SQLiteValue] {
        [
            .text(subject.tenant), .text(subject.kind.rawValue), .text(subject.name), .text(reason), .text(by),
            .date(since), end.map { .date($0) } ?? .null,
        ]
    }
}

extension KeyRow {
    /// The values of `KeyColumns.all`.
    var values: [SQLiteValue] {
        [
            .text(sealed.tenant), .bytes(Array(kid.bytes)), .bytes(Array(content.bytes)), .text(track.rawValue),
            .text(trackType), .text(StoredList.text(policies)), scheme.map { .text($0.rawValue) } ?? .null,
            .text(StoredList.text(periods)), .version(sealed.dataKey), .bytes(sealed.nonce), .bytes(sealed.sealed),
            .date(created), .flag(isDisabled),
        ]
    }
}
