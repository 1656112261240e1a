import Foundation
import LatchkeyCore
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

/// Erasing one account from a running server: its name is nowhere afterwards, except where the answer says so.
@Suite(.timeLimit(.minutes(5))) struct ErasureServerTests {
    private static let erased = "viewer-erased-77"
    private static let kept = "viewer-kept-78"
    private static let path = "tenants/demo/account?name=\(erased)"

    /// A member of a place of an answer; `nil` if the place or the number is missing.
    private static func count(_ reply: HTTPReply, _ member: String, _ place: String) -> Double? {
        reply.list("places").first { $0["place"]?.text == place }?[member]?.number
    }

    // MARK: - Over PostgreSQL and Redis

    /// Every row of PostgreSQL and every value of Redis that has a text, by its table or key.
    private static func traces(_ text: String, in stage: CheckStage) async throws -> Set<String> {
        var found: Set<String> = []
        let tables = try await stage.server.query(
            "SELECT relname FROM pg_class WHERE relnamespace = 'latchkey'::regnamespace AND relkind IN ('r', 'p')",
            in: stage.database
        ).map { String(decoding: try $0.bytes(0), as: UTF8.self) }
        #expect(tables.count > 10)
        for table in tables {
            let sql = "SELECT coalesce(string_agg(t::text, ' '), '') FROM latchkey.\(table) t"
            let rows = String(
                decoding: try #require(try await stage.server.query(sql, in: stage.database).first).bytes(0),
                as: UTF8.self)
            if rows.contains(text) || rows.contains(Array(text.utf8).hexString) { found.insert(table) }
        }
        let script = """
            local found = {}
            for _, key in ipairs(redis.call('KEYS', '*')) do
                local kind, values = redis.call('TYPE', key).ok, {}
                if kind == 'hash' then values = redis.call('HGETALL', key) end
                if kind == 'zset' then values = redis.call('ZRANGE', key, 0, -1) end
                if kind == 'string' then values = {redis.call('GET', key)} end
                values[#values + 1] = key
                for _, value in ipairs(values) do
                    if string.find(value, ARGV[1], 1, true) then found[#found + 1] = 'redis' end
                end
            end
            return found
            """
        for one in try stage.redis.answer(to: ["EVAL", script, "0", text]).elements ?? [] {
            found.insert(one.text ?? "")
        }
        return found
    }

    /// The rows of the record, and their number.
    private static func rows(_ stage: CheckStage) async throws -> [LicenseRecordRow] {
        let record = try PostgreSQLRecord(Secret(stage.address), limit: .seconds(60))
        defer { record.close() }
        return try await record.rows(RecordQuery(times: 0..<4_000_000_000_000, limit: 1_000))
    }

    @Test(
        .enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."),
        arguments: ["names", "pseudonyms"])
    func `no engine has an erased account, and other accounts stay`(_ accounts: String) async throws {
        // Redis is shared.
        let (erased, kept) = ("\(Self.erased)-\(accounts)", "viewer-kept-\(accounts)")
        let (path, trial) = ("tenants/demo/account?name=\(erased)", "tenants/demo/account/erasure?name=\(erased)")
        let stage = try await CheckStage()
        try stage.folder.edit(["devices.limit": 5], in: "policies/demo.json")
        try stage.folder.edit([
            "tenants.demo.unlisted": nil,
            "record": [
                "folder": "spool", "destination": .text(stage.address), "accounts": .text(accounts), "decisions": "all",
            ],
        ])
        let test = try await TestServer(stage.folder)
        try await test.importKeys(1...1)
        for viewer in [erased, kept] {
            let token = try test.token(viewer, ["latchkey": ["device": .text("tv-of-\(viewer)")]])
            #expect(try await test.license(1, token: token, requestID: "request-of-\(viewer)").status == 200)
        }
        while try await Self.rows(stage).count < 2 { await Task.yield() }
        let pseudonym = try #require(test.server.shared.pseudonyms.pseudonym(of: erased, at: "demo"))
        let inRecord = accounts == "names" ? erased : pseudonym
        let before = try await Self.traces(erased, in: stage)
        #expect(before.contains("redis") && (accounts == "pseudonyms" || before.contains("license_records")))
        #expect(try await Self.traces(inRecord, in: stage).contains("license_records"))

        // A dry run changes nothing.
        let rows = try await Self.rows(stage)
        let entries = try await test.audit().count
        let looked = try await test.admin(trial)
        #expect(looked.status == 200 && looked.json["erased"] == .flag(false), "\(looked.text)")
        #expect(Self.count(looked, "erased", "record") == 1 && Self.count(looked, "erased", "account") == 1)
        #expect(looked.text.contains("1 session, 1 device, 0 downloads"), "\(looked.text)")
        #expect(try await Self.rows(stage) == rows)
        #expect(try await Self.traces(erased, in: stage) == before)
        #expect(try await test.audit().count == entries)

        let reply = try await test.admin(path, "DELETE")
        #expect(reply.status == 200 && reply.json["erased"] == .flag(true), "\(reply.text)")
        #expect(Self.count(reply, "erased", "record") == 1 && Self.count(reply, "erased", "account") == 1)
        #expect(Self.count(reply, "erased", "memory of \(test.server.shared.node)") == 1)
        #expect(Self.count(reply, "kept", "audit") == 0 && Self.count(reply, "kept", "block") == 0)
        #expect(try await Self.traces(erased, in: stage) == [])
        #expect(try await Self.traces(inRecord, in: stage) == [])
        #expect(try await test.audit().last == "accountErased demo by admin:security-1")

        let other = try await Self.rows(stage)
        #expect(
            other.filter { !$0.account.isEmpty }
                == rows.filter { $0.account != inRecord })
        #expect(
            other.count == 2 && other.contains { $0.account.isEmpty && $0.content == "film" && $0.requestID.isEmpty })
        #expect(try await test.admin("tenants/demo/account?name=\(kept)").list("slots").count == 1)
        #expect(try await Self.traces(kept, in: stage).contains("redis"))

        // Repeating it does nothing more.
        let again = try await test.admin(path, "DELETE")
        #expect(again.status == 200 && Self.count(again, "erased", "record") == 0, "\(again.text)")
        #expect(Self.count(again, "erased", "account") == 0 && again.json["digest"] == reply.json["digest"])
        #expect(try await Self.rows(stage) == other)
    }

    @Test(.enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
    func `a record that is away is an error that names the places that are done, and a repetition does the rest`()
        async throws
    {
        let database = try await PostgreSQLProcess()
        let address = database.address(of: try await database.database()).revealedText
        try await Stores.migrate(StoreAddress(address))
        let folder = try ServerFolder(["record": ["folder": "spool", "destination": .text(address)]])
        chmod(folder.configuration, 0o600)
        let test = try await TestServer(folder)
        #expect(try await test.license(for: Self.erased).0.status == 200)
        let report = "tenants/demo/report?last=1h&account=\(Self.erased)"
        while try await test.admin(report).json["total"]?["licenses"]?.number != 1 { await Task.yield() }
        try await database.stop()
        let away = try await test.admin(Self.path, "DELETE")
        #expect(away.status == 503 && away.json["code"]?.text == "erasureIncomplete", "\(away.text)")
        let reason = try #require(away.json["reason"]?.text)
        #expect(reason.hasPrefix("Not erased: record: ") && reason.contains("Erased: account;"), "\(reason)")
        #expect(try await test.audit().suffix(2).map { $0.prefix(13) } == ["accountErased", "accountErased"])
        try await database.start()
        while try await test.admin(Self.path, "DELETE").status == 503 { try Task.checkCancellation() }
        // Reports have their own connection, which may return later.
        while try await test.admin(report).json["total"]?["licenses"]?.number != 0 { await Task.yield() }
    }

    // MARK: - Other stores

    @Test func `a region that is away is named, and a former home of the account is erased, too`() async throws {
        let eu = MemoryRecordStore()
        let stage = try await TestServer.switched(
            sessions: { try #require(RegionalRecordStore(["eu": eu, "us": $0.sessions])) })
        // As the hash has it, in us; and in eu as before a change of the regions.
        #expect(try await stage.license(1, token: stage.token("ben")).status == 200)
        let key = RecordKey.account("ben", "demo")
        let home = try #require(try await stage.database.sessions.read(key).record)
        #expect(try await eu.write(home, at: key, replacing: nil, until: .distantFuture, counting: []))
        stage.database.sessions.setDown(true)
        let away = try await stage.admin("tenants/demo/account?name=ben", "DELETE")
        #expect(away.status == 503 && away.json["code"]?.text == "erasureIncomplete", "\(away.text)")
        #expect(
            away.text.contains("Not erased: account in us: ") && away.text.contains("account in eu;"), "\(away.text)")
        #expect(try await eu.read(key).record == nil)
        stage.database.sessions.setDown(false)
        await stage.server.shared.look(atLeastEvery: .zero)
        while try await stage.admin("tenants/demo/account?name=ben", "DELETE").status == 503 {
            try Task.checkCancellation()
        }
        #expect(try await stage.database.sessions.read(key).record == nil)
    }

    @Test func `a server's files have no erased account once it has stopped, and its block stays`() async throws {
        let test = try await TestServer(
            [
                "stores.sessions": "sqlite:sessions.db", "stores.keys": "sqlite:keys.db",
                "stores.audit": "sqlite:keys.db",
                "record": ["folder": "spool", "destination": "files:rows", "decisions": "all"],
            ], policy: ["devices.limit": 5])
        let names = [Self.erased, Self.kept]
        for viewer in names { #expect(try await test.license(for: viewer).0.status == 200) }
        let session = try await test.admin("tenants/demo/account?name=\(Self.erased)").texts("slots", "session")
        #expect(session.count == 1)
        let stopped = #"{"account":"\#(Self.erased)","session":"\#(session[0])"}"#
        #expect(try await test.admin("tenants/demo/sessions/stop", "POST", body: stopped).status == 200)
        let reply = try await test.admin(Self.path, "DELETE")
        #expect(reply.status == 200 && Self.count(reply, "kept", "audit") == 1, "\(reply.text)")
        // Rows that were not shipped yet are erased when they are.
        await test.server.shared.record?.close(within: .seconds(120))
        await test.stop(within: .seconds(60))
        func traces(_ text: String) throws -> Set<String> {
            let files = FileManager.default.enumerator(at: test.folder.demo.url, includingPropertiesForKeys: nil)
            let names = try files?.compactMap { $0 as? URL }.filter { file in
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return false }
                return try Data(contentsOf: file).range(of: Data(text.utf8)) != nil
            }.map(\.lastPathComponent)
            return Set(names ?? [])
        }
        // The audit's chain keeps the stop.
        #expect(try traces(Self.erased) == ["keys.db"])
        #expect(try traces(Self.kept).contains("sessions.db") && traces(Self.kept).contains { $0.hasSuffix(".jsonl") })
    }

    @Test func `the verb prints each place with its reason, and a block of the account stays`() async throws {
        let test = try await TestServer()
        #expect(try await test.license(for: "ann/1").0.status == 200)
        let block = #"{"kind":"account","name":"ann/1","reason":"stolen"}"#
        #expect(try await test.admin("tenants/demo/blocks", "PUT", body: block).status == 200)
        let key = try test.root.write(TestServer.key(.security), to: "key.txt")
        let words = [
            "account", "erase", "ann/1", "--tenant", "demo", "--server", test.server.addresses.operators.url, "--key",
            key,
        ]
        let trial = await ToolRun(arguments: words + ["--dry-run"])
        #expect(trial.status == .yes && trial.output.hasSuffix("Nothing was erased.\n"), "\(trial.error)")
        let run = await ToolRun(arguments: words)
        #expect(run.status == .yes && run.output.contains("Erased. The audit has the digest "), "\(run.error)")
        let lines = run.output.split(separator: "\n").map { $0.split(separator: " ").prefix(3).map(String.init) }
        #expect(lines.contains(["account", "1", "0"]) && lines.contains(["block", "0", "1"]), "\(run.output)")
        #expect(lines.contains(["audit", "0", "1"]), "\(run.output)")
        #expect(try await test.license(for: "ann/1").0.text.contains("accountBlocked"))
        let json = await ToolRun(arguments: words + ["--json"])
        #expect(JSONValue(Data(json.output.utf8))?["name"]?.text == "ann/1", "\(json.error)")
        _ = try test.root.write(TestServer.key(.operator), to: "key.txt")
        let refused = await ToolRun(arguments: words)
        #expect(refused.status == .no && refused.error.contains("security"), "\(refused.error)")
    }
}
