import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses

/// 2026-11-27T12:00:00Z.
private let noon: Int64 = 1_795_780_800_000

extension RecordBatch {
    /// Rows whose requests' identifiers are their sequences.
    static func sample(
        _ numbers: ClosedRange<Int>, spool: String = "00112233aabbccdd", day: Int64 = 0,
        _ change: (inout LicenseRecordRow) -> Void = { _ in }
    ) -> RecordBatch {
        RecordBatch(
            node: "n1", spool: spool,
            lines: numbers.map { number in
                var row = LicenseRecordRow(.license, time: noon + day * 86_400_000 + Int64(number))
                row.position = RecordPosition(node: "n1", spool: spool, sequence: UInt64(number))
                (row.tenant, row.account, row.requestID) = ("acme", "anna", "\(number)")
                change(&row)
                return RecordBatch.Line(sequence: UInt64(number), time: row.time, json: row.json)
            })
    }
}

@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: PostgreSQLProcess.programs != nil))
struct PostgreSQLRecordTests {
    static let everything = RecordQuery(times: 0..<4_000_000_000_000, limit: 10_000)

    /// A database with the tables, and the record in it.
    func record(
        in server: PostgreSQLProcess? = nil, days: Int? = nil, limit: Duration = .seconds(60)
    ) async throws -> (server: PostgreSQLProcess, database: String, record: PostgreSQLRecord) {
        let server = if let server { server } else { try await PostgreSQLProcess.shared.value }
        let database = try await server.database()
        try await PostgreSQLStore.open(
            server.address(of: database), .patient, migrates: true, keeping: days.map(RecordRetention.days) ?? .asBefore
        ).close()
        return (server, database, try PostgreSQLRecord(server.address(of: database), limit: limit))
    }

    @Test func `a row is read back as is, whatever its content`() async throws {
        let (_, _, record) = try await record()
        var wanted = LicenseRecordRow(.end, time: noon + 1)
        wanted.position = RecordPosition(node: "n1", spool: "00112233aabbccdd", sequence: 1)
        (wanted.cause, wanted.count, wanted.tenant, wanted.account) = (.replaced, 4, "acme", "a\tb\nc\\N\r\"ä😀")
        (wanted.device, wanted.address, wanted.country, wanted.content) = ("\\N", "10.0.0.0/24", "DE", "\\.")
        (wanted.kid, wanted.api, wanted.kind, wanted.seconds) = ("k", "fairplay", "lease", 300)
        (wanted.policy, wanted.policyDigest, wanted.session, wanted.requestID) = ("p", "f", "s", "1")
        (wanted.code, wanted.reason, wanted.microseconds) = ("c", "why", 12)
        wanted.decision = #"{"a":"\\t"}"#
        let row = wanted
        #expect(try await record.take(.sample(1...1) { $0 = row }) == 1)
        #expect(try await record.rows(Self.everything) == [wanted])
        // PostgreSQL keeps no NUL.
        _ = try await record.take(.sample(2...2) { $0.account = "a\0b" })
        #expect(try await record.rows(Self.everything).map(\.account).contains("ab"))
        record.close()
    }

    @Test func `a repeated batch, even if split differently, is stored once`() async throws {
        let (_, _, record) = try await record()
        #expect(try await record.take(.sample(1...100)) == 100)
        #expect(try await record.take(.sample(1...100)) == 100)
        #expect(try await record.take(.sample(50...120)) == 120)
        #expect(try await record.take(.sample(1...2, spool: "ffffffffffffffff")) == 2)
        let rows = try await record.rows(Self.everything)
        #expect(rows.count == 122 && Set(rows.map(\.position)).count == 122)
        record.close()
    }

    @Test func `a rejected batch stores nothing and keeps the position`() async throws {
        let (server, database, record) = try await record()
        try await server.query(
            "ALTER TABLE latchkey.license_records ADD CHECK (account <> 'otto')", in: database)
        let error = await #expect(throws: StoreError.self) {
            try await record.take(.sample(1...5) { if $0.requestID == "3" { $0.account = "otto" } })
        }
        #expect(error?.kind == .unfit)
        #expect(try await record.rows(Self.everything).isEmpty)
        #expect(try await record.take(.sample(1...2)) == 2)
        record.close()
    }

    @Test func `a role without table rights creates days ahead and drops days that are too old`()
        async throws
    {
        let (server, database, owner) = try await record()
        owner.close()
        let role = "node_\(database)"
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: database)
        let before = try PostgreSQLRecord(server.address(of: database, role: role))
        #expect(await before.findings().count == 1)
        before.close()
        // With the function of before a role dropped the days before any.
        try await server.query("GRANT EXECUTE ON FUNCTION latchkey.drop_record_days TO \(role)", in: database)
        for days in [3, nil] {
            try await PostgreSQLStore.open(
                server.address(of: database), .patient, migrates: true, granting: role,
                keeping: days.map(RecordRetention.days) ?? .asBefore
            ).close()
        }

        let record = try PostgreSQLRecord(server.address(of: database, role: role), days: 3, limit: .seconds(60))
        #expect(await record.findings() == [])
        let today = try await today(server, database)
        let offset = today - Int(noon / 86_400_000)
        for day in -5...0 { _ = try await record.take(.sample(1...3, spool: "\(day + 10)", day: Int64(offset + day))) }
        #expect(try await record.keepDays(today: today, days: nil) == 0)
        #expect(try await days(server, database) == names(today - 5...today + 2))
        #expect(try await record.keepDays(today: today, days: 3) == 3)
        #expect(try await days(server, database) == names(today - 2...today + 2))
        #expect(try await record.rows(Self.everything).count == 9)
        // No fewer than the owner has set, neither by the former function nor by hand.
        let error = await #expect(throws: StoreError.self) { try await record.keepDays(today: today, days: 1) }
        #expect(error?.kind == .misconfigured && error?.reason.contains("keeps at least 3 days") == true)
        let store = try await PostgreSQLStore.open(server.address(of: database, role: role), .patient)
        defer { store.close() }
        for sql in [
            "DELETE FROM latchkey.license_records", "UPDATE latchkey.license_records SET account = ''",
            "TRUNCATE latchkey.license_records", "UPDATE latchkey.record_retention SET days = 1",
            "DELETE FROM latchkey.record_retention",
        ] {
            let error = await #expect(throws: StoreError.self) {
                try await store.work.run(PostgreSQLCall(sql, sql), within: .seconds(60))
            }
            #expect(error?.reason.contains("42501") == true, "\(sql)")
        }
        for sql in [
            "SELECT latchkey.keep_record_days(-1000000000000)", "SELECT latchkey.drop_record_days(current_date)",
            "SELECT latchkey.drop_record_days(current_date + 10000)",
        ] {
            _ = try await store.work.run(PostgreSQLCall(sql, sql), within: .seconds(60))
        }
        #expect(try await record.rows(Self.everything).count == 9)
        record.close()
    }

    @Test(arguments: [("Postgres, MDY", "Asia/Shanghai"), ("SQL, DMY", "Asia/Kolkata")])
    func `a role's dates and time zone move no day`(_ dates: String, _ zone: String) async throws {
        let (server, database, owner) = try await record()
        owner.close()
        let role = "node_\(database)"
        for sql in [
            "CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'",
            "ALTER ROLE \(role) SET datestyle = '\(dates)'", "ALTER ROLE \(role) SET timezone = '\(zone)'",
        ] { try await server.query(sql, in: database) }
        try await PostgreSQLStore.open(server.address(of: database), .patient, migrates: true, granting: role).close()
        let record = try PostgreSQLRecord(server.address(of: database, role: role), limit: .seconds(60))
        let day = Int(noon / 86_400_000)
        #expect(try await record.keepDays(today: day, days: nil) == 0)
        #expect(try await bounds(server, database) == (day...day + 3).map { Int64($0) * 86_400 })
        #expect(try await record.take(.sample(1...2)) == 2)
        record.close()
    }

    @Test func `days created in another time zone stay, and the next starts where they end`() async throws {
        let (server, database, record) = try await record()
        let day = Int(noon / 86_400_000)
        try await server.query(
            """
            CREATE TABLE latchkey.license_records_20261127 PARTITION OF latchkey.license_records
            FOR VALUES FROM ('2026-11-27 06:00:00+00') TO ('2026-11-28 06:00:00+00')
            """, in: database)
        #expect(try await record.keepDays(today: day, days: nil) == 0)
        let midnights = (day + 2...day + 3).map { Int64($0) * 86_400 }
        #expect(try await bounds(server, database) == [6, 30].map { Int64(day) * 86_400 + $0 * 3_600 } + midnights)
        // At six in the evening, and at six in the morning and at noon of the next day.
        for (number, hours) in [6, 18, 24].enumerated() {
            let batch = RecordBatch.sample(1...1, spool: "\(number)") { $0.time = noon + Int64(hours) * 3_600_000 }
            #expect(try await record.take(batch) == 1)
        }
        record.close()
    }

    @Test func `a long reader blocks no new day, and only delays the drop of an old one`() async throws {
        let (server, database, record) = try await record(days: 1)
        let today = try await today(server, database)
        let offset = Int64(today - Int(noon / 86_400_000))
        _ = try await record.take(.sample(1...3, day: offset - 4))
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(server.address(of: database)), isDurable: false, statementLimit: .seconds(60))
        let backup = try PostgreSQLPool(setup, count: 1, name: "backup")
        for sql in ["BEGIN", "LOCK TABLE latchkey.license_records IN ACCESS SHARE MODE"] {
            _ = try await backup.run(PostgreSQLCall(sql, sql), within: .seconds(60))
        }
        #expect(try await record.keepDays(today: today, days: 1) == 0)
        #expect(try await days(server, database) == names(today - 4...today - 4) + names(today...today + 2))
        #expect(try await record.take(.sample(4...5, day: offset)) == 5)
        _ = try await backup.run(PostgreSQLCall("COMMIT", "COMMIT"), within: .seconds(60))
        backup.close()
        #expect(try await record.keepDays(today: today, days: 1) == 1)
        record.close()
    }

    @Test func `a node whose clock is ahead drops nothing that the database would keep`() async throws {
        let (server, database, record) = try await record(days: 1)
        let today = try await today(server, database)
        let offset = today - Int(noon / 86_400_000)
        for day in -2...0 { _ = try await record.take(.sample(1...3, spool: "\(day + 10)", day: Int64(offset + day))) }
        #expect(try await record.keepDays(today: today + 399, days: 400) == 0)
        #expect(try await record.rows(Self.everything).count == 9)
        record.close()
    }

    @Test func `no day is dropped before the owner sets how many to keep, and a check says so`() async throws {
        let (server, database, record) = try await record()
        let offset = try await today(server, database) - Int(noon / 86_400_000)
        _ = try await record.take(.sample(1...3, day: Int64(offset - 5)))
        let error = await #expect(throws: StoreError.self) {
            try await record.keepDays(today: Int(noon / 86_400_000) + offset, days: 2)
        }
        #expect(error?.kind == .misconfigured && error?.remedy.contains("migrate") == true)
        #expect(try await record.rows(Self.everything).count == 3)
        #expect(await record.findings() == [])
        record.close()
        let wanting = try PostgreSQLRecord(server.address(of: database), days: 2, limit: .seconds(60))
        #expect(await wanting.findings().map(\.reason) == [error?.reason])
        wanting.close()
    }

    @Test func `an account too long for an index blocks no other row`() async throws {
        let (_, _, record) = try await record()
        let folder = try TemporaryFolder()
        let spool = try RecordSpool(folder: folder.path("spool"), node: "n1")
        var generator = SystemRandomNumberGenerator()
        // Of random characters, so that PostgreSQL does not make it short.
        let account = String(
            decoding: (0..<4_000).map { _ in UInt8.random(in: 0x30...0x7a, using: &generator) }, as: UTF8.self)
        for number in 1...7 {
            var row = LicenseRecordRow(.license, time: noon)
            (row.tenant, row.requestID, row.account) = ("acme", "\(number)", number == 4 ? account : "anna")
            await spool.append(row)
        }
        let refused = Locked<[StoreError]>([])
        let shipper = RecordShipper(
            spool, folder: folder.path("spool"), to: record, health: EngineHealth("record")
        ) { if case .refused(_, let error) = $0 { refused.withLock { $0.append(error) } } }
        await shipper.finish()
        #expect(spool.standing.rows == 0)
        #expect(try await record.rows(Self.everything).map(\.requestID).sorted() == ["1", "2", "3", "5", "6", "7"])
        #expect(refused.withLock { $0 }.map(\.kind) == [.unfit])
        record.close()
    }

    /// The starts of the existing days, and the end of the last one, in seconds since 1970.
    private func bounds(_ server: PostgreSQLProcess, _ database: String) async throws -> [Int64] {
        let sql = """
            SELECT DISTINCT extract(epoch FROM time::timestamptz)::bigint AS at
            FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid,
                regexp_matches(pg_get_expr(relpartbound, pg_class.oid), '[0-9]{4}-[^'']+', 'g') AS found (times), unnest(times) AS time
            WHERE inhparent = 'latchkey.license_records'::regclass ORDER BY at
            """
        return try await server.query(sql, in: database).map { try $0.integer(0) }
    }

    /// The database's day, in days since 1970 by UTC.
    private func today(_ server: PostgreSQLProcess, _ database: String) async throws -> Int {
        let sql = "SELECT ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01')::bigint"
        return Int(clamping: try #require(try await server.query(sql, in: database).first).integer(0))
    }

    private func names(_ days: ClosedRange<Int>) -> [String] {
        days.map { PostgreSQLRecordSchema.dayText($0).replacing("-", with: "") }
    }

    private func days(_ server: PostgreSQLProcess, _ database: String) async throws -> [String] {
        let sql = """
            SELECT right(relname, 8) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = 'latchkey.license_records'::regclass ORDER BY 1
            """
        return try await server.query(sql, in: database).map { String(decoding: try $0.bytes(0), as: UTF8.self) }
    }

    @Test func `pages are contiguous, and conditions filter`() async throws {
        let (_, _, record) = try await record()
        _ = try await record.take(
            .sample(1...9) { row in
                if row.requestID == "4" { (row.account, row.event, row.code) = ("otto", .refusal, "place") }
            })
        var query = RecordQuery(times: 0..<4_000_000_000_000, limit: 4)
        var all: [String] = []
        while true {
            let page = try await record.rows(query)
            guard let last = page.last else { break }
            all += page.map(\.requestID)
            query.before = RecordCursor(last)
        }
        #expect(all == (1...9).reversed().map { "\($0)" })
        query = Self.everything
        (query.tenant, query.account, query.events) = ("acme", "otto", [.refusal, .end])
        #expect(try await record.rows(query).map(\.requestID) == ["4"])
        query.code = "other"
        #expect(try await record.rows(query).isEmpty)
        record.close()
    }

    @Test(arguments: [true, false])
    func `a server that hangs or dies during a copy neither loses nor duplicates a row`(
        _ hangs: Bool
    ) async throws {
        let server = try await PostgreSQLProcess()
        let (_, database, record) = try await record(in: server, limit: .milliseconds(1_500))
        let folder = try TemporaryFolder()
        let spool = try RecordSpool(folder: folder.path("spool"), node: "n1")
        let health = EngineHealth("record")
        let shipper = RecordShipper(spool, folder: folder.path("spool"), to: record, health: health)
        let shipping = Task { await shipper.run() }
        let count = Locked(0)
        let writing = Task {
            while !Task.isCancelled {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                var row = LicenseRecordRow(.license, time: Int64(Date().timeIntervalSince1970 * 1_000))
                (row.tenant, row.requestID) = ("acme", "\(number)")
                _ = await spool.append(row)
                // At most a few batches wait.
                while spool.standing.rows > 1_000, !Task.isCancelled { await Task.yield() }
            }
        }
        for _ in 0..<2 {
            if hangs { try server.hang(true) } else { try await server.stop() }
            while !health.isAway { await Task.yield() }
            if hangs { try server.hang(false) } else { try await server.start() }
            while health.isAway { await Task.yield() }
        }
        writing.cancel()
        await writing.value
        while spool.standing.rows > 0 { await Task.yield() }
        shipping.cancel()
        await shipping.value
        let total = count.withLock { $0 }
        var query = Self.everything
        query.limit = total + 10
        record.close()
        let reader = try PostgreSQLRecord(server.address(of: database), limit: .seconds(60))
        let rows = try await reader.rows(query)
        #expect(rows.count == total)
        #expect(Set(rows.map(\.requestID)).count == total)
        let sql = "SELECT sum(licenses)::bigint FROM latchkey.rollups WHERE dimension = 'api'"
        #expect(try await server.query(sql, in: database).first?.integer(0) == Int64(total))
        reader.close()
    }
}
