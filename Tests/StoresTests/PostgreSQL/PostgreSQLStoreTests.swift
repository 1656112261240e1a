import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

@Suite(.enabled(if: PostgreSQLProcess.programs != nil, "PostgreSQL is not installed"), .timeLimit(.minutes(5)))
struct PostgreSQLStoreTests {
    private let key = RecordKey(.account, tenant: "acme", name: "anna")

    private func database() async throws -> (server: PostgreSQLProcess, name: String, address: Secret) {
        let server = try await PostgreSQLProcess.shared.value
        let name = try await server.database()
        return (server, name, server.address(of: name))
    }

    @Test func `nodes create tables concurrently and again, and lose nothing`() async throws {
        let address = try await database().address
        let stores = try await withThrowingTaskGroup(of: PostgreSQLStore.self) { group in
            for _ in 0..<3 { group.addTask { try await .open(address, .patient, migrates: true) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try await stores.first?.put("anna") == true)
        try await stores.last?.migrate()
        #expect(try await stores.last?.read(key).record != nil)
        for store in stores { store.close() }
    }

    @Test func `a record has the time limit that its opener gives the store`() async throws {
        let address = try await database().address
        try await Stores.migrate(.postgresql(address))
        let stores = try await Stores.open(.postgresql(address), recordLimit: .milliseconds(70))
        defer { stores.close() }
        #expect((stores.records as? PostgreSQLStore)?.settings.recordLimit == .milliseconds(70))
    }

    @Test func `a missing table's error names the migration`() async throws {
        let address = try await database().address
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(address, .patient) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.remedy.contains("migrate") == true)
    }

    @Test func `tables that need a newer server are refused, compatible ones are used`() async throws {
        let (server, name, address) = try await database()
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        try await server.query("UPDATE latchkey.schema SET version = 7", in: name)
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        try await server.query("UPDATE latchkey.schema SET oldest = 7", in: name)
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(address, .patient) }
        #expect(error?.kind == .damaged)
    }

    @Test func `a version 1 database is upgraded, keeps its rows, and serves both versions`() async throws {
        let (server, name, address) = try await database()
        for sql in FormerSchemas.postgreSQL1 { try await server.query(sql, in: name) }
        try await server.query(
            """
            INSERT INTO latchkey.keys VALUES ('acme', '00000000-0000-0000-0000-000000000001', 'film', 'ALL', '', '[]', 'cbcs',
            '[]', 1, 'nonce', 'sealed', now(), false)
            """, in: name)
        let old = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(address, .patient) }
        #expect(old?.remedy.contains("migrate") == true)
        let fingerprint = try #require(try await Stores.migrate(.postgresql(address)))
        #expect(try await Stores.migrate(.postgresql(address)) == fingerprint)
        let store = try await PostgreSQLStore.open(address, .patient)
        defer { store.close() }
        #expect(try await store.count(of: "acme") == 1)
        let kid = try #require(KeyID("00000000-0000-0000-0000-000000000001"))
        let row = try #require(try await store.rows([kid], of: "acme").first)
        #expect(try await store.remove(row.sealed))
        #expect(try await store.fingerprint() == fingerprint)
        let numbers = try await server.query("SELECT version, oldest FROM latchkey.schema", in: name).first
        #expect(try [numbers?.integer(0), numbers?.integer(1)] == [5, 1], "Servers of version 1 go on.")
    }

    @Test func `records of servers without a count are scanned, up to a limit, until they are written`()
        async throws
    {
        let (server, name, address) = try await database()
        let store = try await PostgreSQLStore.open(address, .patient, migrates: true)
        defer { store.close() }
        for account in ["anna", "bert"] {
            try await server.query(
                """
                INSERT INTO latchkey.records (tenant, kind, name, version, ends, bytes)
                VALUES ('acme', 'account', '\(account)', 1, now() + interval '1 hour', 'ab')
                """, in: name)
        }
        for account in ["carl", "dora"] { try await store.putCounting(account, [600]) }
        // A node of the previous version changes records without counting.
        try await server.query(
            "UPDATE latchkey.records SET version = version + 1, bytes = 'abc' WHERE name = 'carl'", in: name)
        let ends: @Sendable ([UInt8]) -> [Date] = { $0.map { _ in Date() + 600 } }
        #expect(try await store.count(of: .account, "acme", most: 3, ends) == RecordCount(8, isWhole: true))
        #expect(try await !store.count(of: .account, "acme", most: 2, ends).isWhole)
        for account in ["anna", "bert", "carl"] { try await store.putCounting(account, [600]) }
        #expect(try await store.counted() == RecordCount(4, isWhole: true))
    }

    @Test func `the server role can only add to the audit`() async throws {
        let (server, name, address) = try await database()
        let role = "node \"of\" \(name)"
        let quoted = role.replacingOccurrences(of: "\"", with: "\"\"")
        try await server.query("CREATE ROLE \"\(quoted)\" LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: name)
        try await Stores.migrate(.postgresql(address), granting: role)
        let escaped = role.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let store = try await PostgreSQLStore.open(server.address(of: name, role: escaped), .patient)
        defer { store.close() }
        #expect(try await store.append(AuditEntry(sequence: 1, text: "{}", previous: [], hash: [])))
        #expect(try await store.put("anna"))
        #expect(try await store.add([SampleKeys.row(1)]).count == 1)
        #expect(try await store.reseal([SampleKeys.sealed(1, dataKey: 2)]) == 1)
        // A replaced or removed key is set aside, by a function that does nothing else.
        #expect(try await store.replace(SampleKeys.sealed(1, dataKey: 2), by: SampleKeys.row(1, secret: 9)))
        #expect(try await store.remove(SampleKeys.sealed(1, secret: 9)))
        let former = try await server.query(
            "SELECT data_key, sealed FROM latchkey.former_keys ORDER BY gone", in: name)
        #expect(try former.map { try $0.integer(0) } == [2, 1])
        #expect(try former.last?.bytes(1) == SampleKeys.sealed(1, secret: 9).sealed)
        #expect(try await store.fingerprint() != nil)
        #expect(try await store.add([SampleKeys.row(1)]).count == 1)
        for sql in [
            "UPDATE latchkey.audit SET text = ''", "DELETE FROM latchkey.audit", "TRUNCATE latchkey.audit",
            "DROP TABLE latchkey.audit", "DELETE FROM latchkey.keys",
            "TRUNCATE latchkey.keys", "SELECT * FROM latchkey.former_keys", "DELETE FROM latchkey.former_keys",
            "UPDATE latchkey.identity SET fingerprint = ''", "DELETE FROM latchkey.identity",
            "DELETE FROM latchkey.seeds", "DELETE FROM latchkey.data_keys",
            "UPDATE latchkey.schema SET version = 0",
        ] {
            let error = await #expect(throws: StoreError.self) {
                try await store.work.run(PostgreSQLCall(sql, sql), within: .seconds(60))
            }
            #expect(error?.kind == .misconfigured)
            #expect(error?.reason.contains("42501") == true)
        }
        let error = await #expect(throws: StoreError.self) { try await store.migrate() }
        #expect(error?.kind == .misconfigured)
    }

    @Test(arguments: [
        "postgresql://anna:hunter2@nowhere.invalid/x", "postgresql://anna:hun@ter2@localhost:1/x",
        "postgresql://hunter2:x@/x?host=/hunter2",
        "postgresql://anna:hunter2@[::1/x", "postgresql://anna:hunter2@localhost:hunter2/x",
        "postgresql://anna@localhost/x?hunter2=1",
        "postgresql://anna:hunter2%zz@localhost/x",
    ])
    func `no error repeats a word of the address`(_ address: String) async throws {
        var settings = PostgreSQLStore.Settings.patient
        settings.connections = 1
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(Secret(address), settings) }
        for word in ["hunter2", "ter2", "anna", "nowhere"] { #expect(error?.description.contains(word) == false) }
    }

    @Test func `a wrong password is a configuration fault`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let text = server.address(of: "postgres").revealedText.replacingOccurrences(of: "hunter2", with: "hunter3")
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(Secret(text), .patient) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.reason.contains("28P01") == true)
        #expect(error?.description.contains("hunter3") == false)
    }

    @Test func `of several hosts the responding one is used`() async throws {
        let (server, name, address) = try await database()
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        let folder = String(server.address(of: name).revealedText.split(separator: "=").last ?? "")
        let several = address.revealedText.replacingOccurrences(
            of: "host=\(folder)", with: "host=/nowhere,\(folder),/elsewhere")
        let store = try await PostgreSQLStore.open(Secret(several), .patient)
        #expect(try await store.put("anna"))
        store.close()
    }

    @Test func `a read-only server is left for the next host, and read if there is no other`()
        async throws
    {
        let (server, name, address) = try await database()
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        try await server.query("ALTER DATABASE \(name) SET default_transaction_read_only = on", in: "postgres")
        let store = try await PostgreSQLStore.open(address, .patient)
        defer { store.close() }
        #expect(try await store.dataKeys() == [])
        #expect(try await store.last() == nil)
        let error = await #expect(throws: StoreError.self) { try await store.put("anna") }
        #expect(error?.kind == .unavailable)
        #expect(error?.reason.contains("standby") == true)
    }

    @Test(arguments: ["25006", "57P01"])
    func `a connection whose server turns read-only or ends is dropped, and the next one works`(_ state: String)
        async throws
    {
        let address = try await database().address
        var settings = PostgreSQLStore.Settings.patient
        settings.connections = 1
        let store = try await PostgreSQLStore.open(address, settings, migrates: true)
        defer { store.close() }
        func process() async throws -> Int64? {
            let call = PostgreSQLCall("pid", "SELECT pg_backend_pid()::bigint")
            return try await store.records.run(call, within: .seconds(60)).rows.first?.integer(0)
        }
        let before = try await process()
        let raise = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '\(state)'; END $$"
        let error = await #expect(throws: StoreError.self) {
            try await store.records.run(PostgreSQLCall("raise", raise), within: .seconds(60))
        }
        #expect(error?.kind == .unavailable)
        #expect(error?.reason.contains(state) == true)
        #expect(try await process() != before)
    }

    @Test func `a statement beyond the limit is unavailable, and later ones run`() async throws {
        let address = try await database().address
        var settings = PostgreSQLStore.Settings.patient
        settings.connections = 1
        settings.recordLimit = .milliseconds(500)
        let store = try await PostgreSQLStore.open(address, settings, migrates: true)
        defer { store.close() }
        let start = ContinuousClock.now
        let error = await #expect(throws: StoreError.self) {
            try await store.records.run(PostgreSQLCall("sleep", "SELECT pg_sleep(60)"), within: settings.recordLimit)
        }
        #expect(error?.kind == .unavailable)
        #expect(start.duration(to: .now) < .seconds(10))
        let call = PostgreSQLCall("one", "SELECT 1::bigint")
        #expect(try await store.records.run(call, within: .seconds(60)).rows.first?.integer(0) == 1)
    }

    @Test func `everything that waits for a statement that cannot be prepared reports why`() async throws {
        let address = try await database().address
        var settings = PostgreSQLStore.Settings.patient
        settings.connections = 1
        let store = try await PostgreSQLStore.open(address, settings, migrates: true)
        defer { store.close() }
        let call = PostgreSQLCall("missing", "SELECT FROM latchkey.missing")
        let reasons = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do {
                        _ = try await store.records.run(call, within: .seconds(60))
                        return nil
                    } catch { return (error as? StoreError)?.reason }
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(reasons.count == 1 && !reasons.contains { $0 == nil || $0?.contains("pooler") == true }, "\(reasons)")
    }

    @Test func `a failure in a pipeline affects nothing else in it`() async throws {
        let address = try await database().address
        var settings = PostgreSQLStore.Settings.patient
        settings.connections = 1
        let store = try await PostgreSQLStore.open(address, settings, migrates: true)
        defer { store.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    if number % 3 == 0 {
                        let kind = await errorKind {
                            _ = try await store.records.run(
                                [
                                    PostgreSQLCall(
                                        "half", "INSERT INTO latchkey.seeds VALUES ($1, 1, 1, '', '')",
                                        [.text("half-\(number)")]),
                                    PostgreSQLCall("divide", "SELECT 1 / ($1::bigint - $1)", [.integer(Int64(number))]),
                                ], within: .seconds(60))
                        }
                        #expect(kind == .unfit)
                    } else {
                        let isPut = try await store.put("name-\(number)")
                        #expect(isPut)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.page(of: .account, "acme", prefix: "name-", after: nil, limit: 1_000).count == 133)
        #expect(try await store.seeds(of: "half-0").isEmpty)
    }

    @Test func `ended records are deleted a few pages at a time`() async throws {
        let (server, name, address) = try await database()
        let store = try await PostgreSQLStore.open(address, .patient, migrates: true)
        defer { store.close() }
        for number in 0..<600 { #expect(try await store.put("old-\(number)", ends: -1)) }
        var left: Int64? = 600
        while left != 0 {
            // Each write counts; the steps run in the background.
            for number in 0..<RecordSweep.writes { _ = try await store.put("new-\(number % 8)") }
            left = try await server.query("SELECT count(*) FROM latchkey.records WHERE ends < now()", in: name).first?
                .integer(0)
        }
        #expect(try await store.page(of: .account, "acme", prefix: "new-", after: nil, limit: 100).count == 8)
    }

    @Test func `a listener learns of key changes, and of a gap in which it may have missed one`() async throws {
        let (server, name, address) = try await database()
        let store = try await PostgreSQLStore.open(address, .patient, migrates: true)
        defer { store.close() }
        var changes = try store.changes().makeAsyncIterator()
        #expect(await changes.next() == .everything)
        _ = try await store.add([SampleKeys.row(1)])
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
        _ = try await store.add((100..<200).map { SampleKeys.row($0) })
        #expect(await changes.next() == .tenant("acme"))
        _ = try await store.setDisabled(true, SampleKeys.kid(1), of: "acme")
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
        #expect(try await store.replace(SampleKeys.sealed(1), by: SampleKeys.row(1, secret: 9)))
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
        #expect(try await store.remove(SampleKeys.sealed(1, secret: 9)))
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
        _ = try await store.add([SampleKeys.row(1)])
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
        let subject = Block.Subject(.account, "ann", of: "acme")
        try await store.block(Block(subject, reason: "", by: "ops", since: Date()))
        #expect(await changes.next() == .blocks)
        #expect(try await store.unblock(subject))
        #expect(await changes.next() == .blocks)
        // Other nodes have to derive by a new seed, and open rows that a new data key seals.
        var seed = SampleKeys.sealed(1)
        seed.subject = .seed(SeedVersion(2))
        #expect(try await store.add(seed: seed))
        #expect(await changes.next() == .tenant("acme"))
        for (version, replaced) in [(1, nil), (2, nil), (2, "a")] as [(UInt32, String?)] {
            #expect(try await store.put(SampleKeys.dataKey(version), replacing: replaced))
            #expect(await changes.next() == .tenant("acme"))
        }
        try await server.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND query LIKE 'LISTEN%'",
            in: "postgres")
        #expect(await changes.next() == .everything)
        // The probe's own notification is not reported as a change.
        try await store.probe(.keyStore, .listen)
        _ = try await store.setDisabled(false, SampleKeys.kid(1), of: "acme")
        #expect(await changes.next() == .key(tenant: "acme", SampleKeys.kid(1)))
    }

    @Test func `only commits of keys wait for the disk, not those of records`() async throws {
        let address = try await database().address
        let store = try await PostgreSQLStore.open(address, .patient, migrates: true)
        defer { store.close() }
        let call = PostgreSQLCall("setting", "SELECT current_setting('synchronous_commit')")
        #expect(try await store.records.run(call, within: .seconds(60)).rows.first?.text(0) == "off")
        #expect(try await store.work.run(call, within: .seconds(60)).rows.first?.text(0) == "on")
    }
}

/// A separate server, because it is stopped.
@Suite(.enabled(if: PostgreSQLProcess.programs != nil, "PostgreSQL is not installed"), .timeLimit(.minutes(5)))
struct PostgreSQLOutageTests {
    @Test func `a server stopped under load is unavailable immediately, and back on restart`() async throws {
        let server = try await PostgreSQLProcess()
        let store = try await PostgreSQLStore.open(server.address(of: "postgres"), .patient, migrates: true)
        defer { store.close() }
        let isStopped = Locked(false)
        let written = Locked(0)
        let failures = try await withThrowingTaskGroup(of: [StoreError.Kind].self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var failures: [StoreError.Kind] = []
                    // Every writer sees the outage, however far it came.
                    while failures.count < 20 || !isStopped.withLock(\.self) {
                        let kind = await errorKind {
                            let name = "\(writer)-\(UInt64.random(in: 0 ... .max))"
                            if try await store.put(name) { written.withLock { $0 += 1 } }
                        }
                        if let kind { failures.append(kind) }
                    }
                    return failures
                }
            }
            while written.withLock(\.self) < 200 { await Task.yield() }
            try await server.stop()
            isStopped.withLock { $0 = true }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(failures) == [.unavailable])
        try await server.start()
        // Until the connections, one for records and one for keys, are up again, with a pause of at most 2 s between attempts.
        while (try? await store.put("after")) == nil { await Task.yield() }
        while (try? await store.add([SampleKeys.row(1)])) == nil { await Task.yield() }
        #expect(try await store.read(RecordKey(.account, tenant: "acme", name: "after")).record != nil)
        #expect(try await store.rows([SampleKeys.kid(1)], of: "acme").count == 1)
    }
}
