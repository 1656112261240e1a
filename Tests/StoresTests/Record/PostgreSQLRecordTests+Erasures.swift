import Foundation
import LatchkeyCore
import LatchkeySystem
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses

/// Erasures of accounts from the record.
extension PostgreSQLRecordTests {
    private static let digest: RecordErasure.Digest = { "\(String($0.reversed()))-\($1)" }

    private static func erasure(_ accounts: Set<String>, before end: Int64) -> RecordErasure {
        RecordErasure(accounts, of: "acme", before: end, digest: digest)
    }

    @Test func `a role that cannot change rows erases an account, also from rows that arrive later`() async throws {
        let (server, database, owner) = try await record()
        owner.close()
        let role = "node_\(database)"
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: database)
        try await PostgreSQLStore.open(server.address(of: database), .patient, migrates: true, granting: role).close()
        let record = try PostgreSQLRecord(
            server.address(of: database, role: role), digest: Self.digest, limit: .seconds(60))
        defer { record.close() }
        // Times before the server's clock, which bounds an erasure.
        let late = Int64(Date().timeIntervalSince1970 * 1_000)
        func batch(_ numbers: ClosedRange<Int>, spool: String) -> RecordBatch {
            .sample(numbers, spool: spool) { row in
                let number = Int(row.requestID) ?? 0
                row.time = late - 1_000
                row.account = number % 3 == 0 ? "otto" : "eve"
                (row.tenant, row.seconds, row.content) = (number % 3 == 1 ? "other" : "acme", 300, "film")
                (row.device, row.session, row.address, row.decision) = ("d", "s", "10.0.0.0/24", "{}")
                if number == 8 { row.time = late + 1 }
            }
        }
        #expect(try await record.take(batch(1...3, spool: "01")) == 3)
        let before = try await record.rows(Self.everything)
        let erasure = Self.erasure(["eve", "0f0f"], before: late)
        #expect(try await record.count(erasure) == 1)
        #expect(try await record.rows(Self.everything) == before)
        #expect(try await record.erase(erasure) == 1)
        #expect(try await record.erase(erasure) == 0)
        #expect(try await record.count(erasure) == 0)
        #expect(try await record.take(batch(4...9, spool: "02")) == 9)
        let rows = try await record.rows(Self.everything)
        func numbers(_ account: String) -> Set<UInt64> {
            Set(rows.filter { $0.account == account }.map(\.position.sequence))
        }
        #expect(numbers("") == [2, 5] && numbers("otto") == [3, 6, 9] && numbers("eve") == [1, 4, 7, 8])
        for row in rows where row.account.isEmpty {
            #expect(row.device + row.session + row.address + row.requestID + (row.decision ?? "") == "")
            #expect(row.seconds == 300 && row.content == "film" && row.tenant == "acme")
        }
        let noted = try await server.query("SELECT digest FROM latchkey.record_erasures ORDER BY 1", in: database)
        #expect(
            try noted.map { String(decoding: try $0.bytes(0), as: UTF8.self) } == [
                "eve-acme", "f0f0-acme",
            ])
        let store = try await PostgreSQLStore.open(server.address(of: database, role: role), .patient)
        defer { store.close() }
        for sql in [
            "UPDATE latchkey.license_records SET account = ''", "DELETE FROM latchkey.license_records",
            "DELETE FROM latchkey.record_erasures", "INSERT INTO latchkey.record_erasures VALUES ('a', 'b', now())",
        ] {
            let error = await #expect(throws: StoreError.self) {
                try await store.work.run(PostgreSQLCall(sql, sql), within: .seconds(60))
            }
            #expect(error?.reason.contains("42501") == true, "\(sql)")
        }
    }

    /// Otherwise rows of a batch that began before the erasure, and ended after it, would keep the name.
    @Test func `an erasure waits for batches in progress`() async throws {
        let (server, database, record) = try await record()
        defer { record.close() }
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(server.address(of: database)), isDurable: false, statementLimit: .seconds(60))
        let batch = try PostgreSQLPool(setup, count: 1, name: "batch")
        defer { batch.close() }
        func run(_ sql: String) async throws { _ = try await batch.run(PostgreSQLCall(sql, sql), within: .seconds(60)) }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        _ = try await record.take(.sample(1...1) { $0.time = now - 1_000 })
        for sql in PostgreSQLRecordSchema.begin.split(separator: "; ") { try await run(String(sql)) }
        let erasing = try await server.untilBlocked(in: database) {
            try await record.erase(Self.erasure(["anna"], before: now))
        }
        try await run("INSERT INTO latchkey.license_records SELECT * FROM latchkey.license_records")
        try await run("COMMIT")
        #expect(try await erasing.value == 2)
    }
}
