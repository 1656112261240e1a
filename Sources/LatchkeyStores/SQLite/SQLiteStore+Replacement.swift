import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// Replacement and removal of keys, and the file's fingerprint.
extension SQLiteStore {
    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try row.check(for: engine)
        let (kid, now) = (try row.kid(replacing: held, for: engine), timekeeper.date)
        return try await writer.write(.full) { connection throws(StoreError) in
            guard try Self.setAside(held, kid, at: now, connection) else { return false }
            return try connection.run(Self.insertKey, row.values) == 1
        }
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        let (kid, now) = (try held.contentKeyID(for: engine), timekeeper.date)
        return try await writer.write(.full) { connection throws(StoreError) in
            try Self.setAside(held, kid, at: now, connection)
        }
    }

    /// Moves a key to the former ones, if its sealed form is unchanged.
    private static func setAside(
        _ held: SealedKey, _ kid: KeyID, at now: Date, _ connection: SQLiteConnection
    ) throws(StoreError) -> Bool {
        let values: [SQLiteValue] = [
            .text(held.tenant), .bytes(Array(kid.bytes)), .version(held.dataKey), .bytes(held.nonce),
            .bytes(held.sealed),
        ]
        let place = "tenant = ?1 AND kid = ?2 AND data_key = ?3 AND nonce = ?4 AND sealed = ?5"
        try connection.run(
            """
            INSERT INTO former_keys (\(KeyColumns.all), gone)
            SELECT \(KeyColumns.all), ?6 FROM keys WHERE \(place)
            """, values + [.date(now)])
        return try connection.run("DELETE FROM keys WHERE \(place)", values) == 1
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await reader.read { connection throws(StoreError) in
            // A file that is only checked may be of the previous version.
            guard try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'identity'") == 1 else {
                return nil
            }
            return try connection.rows("SELECT fingerprint FROM identity") { row throws(StoreError) in
                try row.fingerprint(0)
            }.first
        }
    }
}
