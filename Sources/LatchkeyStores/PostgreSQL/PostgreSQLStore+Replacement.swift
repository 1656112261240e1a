import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// Replacement and removal of keys, and the database's fingerprint.
extension PostgreSQLStore {
    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try row.check(for: engine)
        let kid = try row.kid(replacing: held, for: engine)
        let columns = KeyColumnValues([row]).arrays
        let places = (6...18).map { "$\($0)" }.joined(separator: ", ")
        let call = PostgreSQLCall(
            "keys-replace",
            """
            WITH aside AS (SELECT \(Self.setAside) AS count)
            INSERT INTO latchkey.keys (\(KeyColumns.all))
            SELECT new.* FROM unnest(\(places)) AS new, aside WHERE aside.count = 1
            """, Self.values(held, kid.bytes) + columns)
        return try await work.run([call, Self.notice(held.tenant, kid)], within: settings.keyLimit).first?.count == 1
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        let kid = try held.contentKeyID(for: engine)
        let call = PostgreSQLCall("keys-remove", "SELECT \(Self.setAside)", Self.values(held, kid.bytes))
        let answers = try await work.run([call, Self.notice(held.tenant, kid)], within: settings.keyLimit)
        return try answers.first?.rows.first?.integer(0) == 1
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await readers.run(
            PostgreSQLCall("identity-read", "SELECT fingerprint FROM latchkey.identity"), within: settings.keyLimit
        ).rows.first.map { row throws(StoreError) in try row.fingerprint(0) }
    }

    /// Moves a key to the former ones, if its sealed form is unchanged. The servers' role may call it, but may not delete anything.
    private static let setAside = "latchkey.set_key_aside($1, $2, $3, $4, $5)"

    private static func values(_ held: SealedKey, _ kid: some Sequence<UInt8>) -> [PostgreSQLValue] {
        [.text(held.tenant), .uuid(kid), .version(held.dataKey), .bytes(held.nonce), .bytes(held.sealed)]
    }
}
