import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
package import LatchkeyVault

extension PostgreSQLStore {
    /// Up to this many keys, each key gets its own notification; beyond that, their tenant gets one.
    private static let notified = 64

    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        for row in rows { try row.check(for: engine) }
        guard !rows.isEmpty else { return [] }
        // All transactions add in the same order, or two would wait for each other.
        let sorted = rows.sorted { $0.sortKey < $1.sortKey }
        let tenants = Set(rows.map(\.sealed.tenant)).sorted()
        var calls = [PostgreSQLCall("keys-add", Self.insert, KeyColumnValues(sorted).arrays)]
        calls += tenants.map { tenant in
            let kids = rows.filter { $0.sealed.tenant == tenant }.map(\.kid)
            return Self.read(kids, of: tenant)
        }
        calls +=
            rows.count > Self.notified
            ? tenants.map { Self.notice($0, nil) } : rows.map { Self.notice($0.sealed.tenant, $0.kid) }
        let limit = rows.count > Self.notified ? settings.pageLimit : settings.keyLimit
        let answers = try await work.run(calls, within: limit)
        var inForce: [KeyRow.SortKey: KeyRow] = [:]
        for answer in answers.dropFirst().prefix(tenants.count) {
            for row in answer.rows {
                let row = try row.keyRow()
                inForce[row.sortKey] = row
            }
        }
        return rows.compactMap { inForce[$0.sortKey] }
    }

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        let limit = kids.count > Self.notified ? settings.pageLimit : settings.readLimit
        return try await keyRows(Self.read(kids, of: tenant), within: limit)
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        let prefix = Array(search.utf8)
        let limit = StoreLimits.page(limit)
        let start = KeyStart(after: cursor, prefix: prefix)
        let found = try await keyRows(
            PostgreSQLCall(
                "keys-page",
                """
                SELECT \(KeyColumns.all) FROM latchkey.keys
                WHERE tenant = $1 AND (content, kid) >= ($2, $3) AND content < $4 ORDER BY content, kid LIMIT $5
                """,
                [
                    .text(tenant), .bytes(start.content), .uuid(start.kid), .bytes(NameRange.end(ofNamesWith: prefix)),
                    .integer(Int64(limit)),
                ]), within: settings.pageLimit)
        guard let kid = KeyID(search) else { return found }
        let named = KeyStart(after: cursor, prefix: [])
        let one = try await keyRows(
            PostgreSQLCall(
                "keys-named",
                "SELECT \(KeyColumns.all) FROM latchkey.keys WHERE tenant = $1 AND kid = $2 AND (content, kid) >= ($3, $4)",
                [.text(tenant), .uuid(kid.bytes), .bytes(named.content), .uuid(named.kid)]), within: settings.pageLimit)
        return KeyRow.merged(one, found, limit: limit)
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        let call = PostgreSQLCall("keys-count", "SELECT count(*) FROM latchkey.keys WHERE tenant = $1", [.text(tenant)])
        let answer = try await readers.run(call, within: settings.pageLimit)
        return Int(clamping: try answer.rows.first?.integer(0) ?? 0)
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        var keys: [[PostgreSQLValue]] = []
        var seeds: [[PostgreSQLValue]] = []
        for row in rows {
            let rest: [PostgreSQLValue] = [.version(row.dataKey), .bytes(row.nonce), .bytes(row.sealed)]
            switch row.subject {
            case .contentKey(let kid): keys.append([.text(row.tenant), .uuid(kid.bytes)] + rest)
            case .seed(let version): seeds.append([.text(row.tenant), .version(version.number)] + rest)
            }
        }
        let calls = [
            PostgreSQLCall(
                "keys-reseal", Self.reseal("keys", "kid", "uuid"),
                PostgreSQLValue.columns([.text, .uuid, .integer, .bytes, .bytes], keys)),
            PostgreSQLCall(
                "seeds-reseal", Self.reseal("seeds", "version", "bigint"),
                PostgreSQLValue.columns([.text, .integer, .integer, .bytes, .bytes], seeds)),
        ]
        return try await work.run(calls, within: settings.pageLimit).map(\.count).reduce(0, +)
    }

    package func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow]
    {
        try await keyRows(
            PostgreSQLCall(
                "keys-before",
                "SELECT \(KeyColumns.all) FROM latchkey.keys WHERE tenant = $1 AND data_key < $2 LIMIT $3",
                [.text(tenant), .version(dataKey), .integer(Int64(StoreLimits.page(limit)))]),
            within: settings.pageLimit)
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        let answers = try await work.run(
            [
                PostgreSQLCall(
                    "keys-disable", "UPDATE latchkey.keys SET disabled = $3 WHERE tenant = $1 AND kid = $2",
                    [.text(tenant), .uuid(kid.bytes), .flag(isDisabled)]), Self.notice(tenant, kid),
            ], within: settings.keyLimit)
        return answers.first?.count == 1
    }

    package func block(_ block: Block) async throws(StoreError) {
        try block.check(for: engine)
        _ = try await work.run(
            [
                PostgreSQLCall(
                    "blocks-set",
                    """
                    INSERT INTO latchkey.blocks (\(BlockColumns.all)) VALUES ($1, $2, $3, $4, $5, $6, $7)
                    ON CONFLICT (tenant, kind, name) DO UPDATE SET
                        reason = excluded.reason, actor = excluded.actor, since = excluded.since, ends = excluded.ends
                    """,
                    Self.values(block.subject) + [
                        .text(block.reason), .text(block.by), .date(block.since),
                        block.end.map { .date($0) } ?? .null(.time),
                    ]), Self.noticeOfBlocks,
            ], within: settings.keyLimit)
    }

    package func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        let call = PostgreSQLCall(
            "blocks-lift", "DELETE FROM latchkey.blocks WHERE tenant = $1 AND kind = $2 AND name = $3",
            Self.values(subject))
        return try await work.run([call, Self.noticeOfBlocks], within: settings.keyLimit).first?.count == 1
    }

    package func blocks() async throws(StoreError) -> [Block] {
        try await readers.run(
            PostgreSQLCall("blocks-read", "SELECT \(BlockColumns.all) FROM latchkey.blocks"),
            within: settings.pageLimit
        ).rows.map { row throws(StoreError) in try row.block() }
    }

    private static func values(_ subject: Block.Subject) -> [PostgreSQLValue] {
        [.text(subject.tenant), .text(subject.kind.rawValue), .text(subject.name)]
    }

    /// Notifies other nodes. A server of an earlier version reads everything again.
    private static let noticeOfBlocks = PostgreSQLCall("blocks-notice", "SELECT pg_notify('latchkey_keys', ':blocks')")

    private func keyRows(_ call: PostgreSQLCall, within limit: Duration) async throws(StoreError) -> [KeyRow] {
        try await readers.run(call, within: limit).rows.map { row throws(StoreError) in try row.keyRow() }
    }

    private static func read(_ kids: [KeyID], of tenant: String) -> PostgreSQLCall {
        PostgreSQLCall(
            "keys-read", "SELECT \(KeyColumns.all) FROM latchkey.keys WHERE tenant = $1 AND kid = ANY ($2)",
            [.text(tenant), .array(.uuid, kids.map { .uuid($0.bytes) })])
    }

    /// Notifies other nodes, if the transaction commits.
    static func notice(_ tenant: String, _ kid: KeyID?) -> PostgreSQLCall {
        PostgreSQLCall(
            "keys-notice", "SELECT pg_notify('latchkey_keys', $1)",
            [.text("\(tenant):\(kid.map { "\($0)" } ?? "")")])
    }

    private static let insert = """
        INSERT INTO latchkey.keys (\(KeyColumns.all))
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING
        """

    private static func reseal(_ table: String, _ column: String, _ type: String) -> String {
        """
        UPDATE latchkey.\(table) AS held SET data_key = new.data_key, nonce = new.nonce, sealed = new.sealed
        FROM unnest($1::text[], $2::\(type)[], $3::bigint[], $4::bytea[], $5::bytea[])
            AS new (tenant, \(column), data_key, nonce, sealed)
        WHERE held.tenant = new.tenant AND held.\(column) = new.\(column) AND held.data_key < new.data_key
        """
    }
}

extension KeyRow {
    /// The place of a row, by which all nodes sort.
    fileprivate struct SortKey: Hashable, Comparable {
        let tenant: [UInt8]
        let kid: KeyID

        static func < (one: Self, other: Self) -> Bool {
            one.tenant == other.tenant
                ? one.kid.bytes.lexicographicallyPrecedes(other.kid.bytes)
                : one.tenant.lexicographicallyPrecedes(other.tenant)
        }
    }

    fileprivate var sortKey: SortKey { SortKey(tenant: Array(sealed.tenant.utf8), kid: kid) }
}

/// Rows of keys as one array per column.
struct KeyColumnValues {
    let arrays: [PostgreSQLValue]

    init(_ rows: [KeyRow]) {
        let kinds: [PostgreSQLValue.ColumnType] = [
            .text, .uuid, .bytes, .text, .text, .text, .text, .text, .integer, .bytes, .bytes, .time, .flag,
        ]
        arrays = PostgreSQLValue.columns(
            kinds,
            rows.map { row in
                [
                    .text(row.sealed.tenant), .uuid(row.kid.bytes), .bytes(row.content.bytes),
                    .text(row.track.rawValue),
                    .text(row.trackType), .text(StoredList.text(row.policies)),
                    row.scheme.map { .text($0.rawValue) } ?? .null(.text), .text(StoredList.text(row.periods)),
                    .version(row.sealed.dataKey), .bytes(row.sealed.nonce), .bytes(row.sealed.sealed),
                    .date(row.created),
                    .flag(row.isDisabled),
                ]
            })
    }
}

extension PostgreSQLValue {
    /// Rows of values as one array per column.
    fileprivate static func columns(_ kinds: [ColumnType], _ rows: [[Self]]) -> [Self] {
        kinds.enumerated().map { index, kind in .array(kind, rows.map { $0[index] }) }
    }
}
