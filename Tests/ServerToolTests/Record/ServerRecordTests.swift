import Foundation
import LatchkeyDevice
import LatchkeySystem
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The rows that a running server adds to its record.
@Suite(.timeLimit(.minutes(5))) struct ServerRecordTests {
    private static func stage(
        _ more: [String: JSONValue?] = [:], prepare: (ServerFolder) throws -> Void = { _ in },
        time: any Timekeeper = SystemTimekeeper()
    ) async throws -> TestServer {
        let record: [String: JSONValue?] = ["record.folder": "spool", "record.destination": "files:rows"]
        return try await TestServer(record.merging(more) { $1 }, prepare: prepare, time: time)
    }

    /// All rows, in the order in which they were made, once the server has stopped.
    private static func rows(_ stage: TestServer) async throws -> [LicenseRecordRow] {
        await stage.server.shared.record?.close(within: .seconds(120))
        await stage.server.stop()
        let files = RecordFiles(folder: stage.folder.file("rows").path)
        return try await files.rows(RecordQuery(times: 0..<(.max), limit: 100_000)).reversed()
    }

    private static func clearKey(_ stage: TestServer, token: String) async throws -> Int {
        let kid = Base64URL.text(try #require(KeyID(TestServer.derivedKid)).bytes)
        return try await stage.player(
            "clearkey", "POST",
            body: Data(#"{"kids":["\#(kid)"],"type":"temporary"}"#.utf8), bearer: token
        ).status
    }

    @Test func `each license and refusal has a row that says who, what, where and why`() async throws {
        let stage = try await Self.stage()
        let (reply, _) = try await stage.license(for: "anna", headers: ["X-Request-Id": "request-one"])
        #expect(reply.status == 200)
        let token = try stage.token("otto")
        #expect(try await stage.license(for: "otto").0.status == 200)
        #expect(try await Self.clearKey(stage, token: "no.token.atall") == 401)
        #expect(try await stage.player("fairplay", "POST", body: Data([1]), bearer: token).status >= 400)
        // Only licenses have rows.
        #expect(try await stage.player("certificate").status == 200)
        #expect(try await stage.player("nothing").status == 404)

        let rows = try await Self.rows(stage)
        #expect(rows.map(\.event) == [.license, .license, .refusal, .refusal])
        let first = try #require(rows.first)
        #expect((first.tenant, first.account, first.api) == ("demo", "anna", "fairplay"))
        #expect(first.content == "movie" && first.kid.lowercased() == TestServer.derivedKid)
        #expect(first.address == "127.0.0.0/24" && first.policyDigest.count == 64 && !first.kind.isEmpty)
        #expect(first.device.count == 32 && first.requestID.hasPrefix("request-one") && first.decision == nil)
        #expect(first.microseconds.map { $0 > 0 } == true && first.position.node == stage.server.shared.node)
        #expect(rows[1].account == "otto" && rows[1].session != rows[0].session)
        #expect(rows[2].account == "" && rows[2].code != "" && rows[2].reason != "")
        #expect(rows[3].account == "otto" && rows[3].code != "")
        #expect(rows.map(\.position.sequence) == [1, 2, 3, 4])
    }

    @Test func `a session's end has a row with its cause`() async throws {
        let stage = try await Self.stage()
        let (reply, _) = try await stage.license(for: "anna")
        let token = try #require(
            reply.headers.first { $0.name.lowercased() == "x-latchkey-heartbeat-token" }?.value)
        #expect(try await stage.player("sessions/heartbeat", "POST", bearer: token).status == 200)
        #expect(try await stage.player("sessions", "DELETE", bearer: token).status == 204)
        #expect(try await stage.player("sessions/heartbeat", "POST", bearer: token).status == 410)
        _ = try await stage.license(for: "anna")
        let stopped = try await stage.admin("tenants/demo/sessions/stop-all", "POST", body: #"{"account":"anna"}"#)
        #expect(stopped.status == 200)
        let rows = try await Self.rows(stage)
        #expect(rows.map(\.event) == [.license, .end, .end, .license, .end])
        #expect(rows.map(\.cause) == [nil, .released, .ended, nil, .stopped])
        #expect(Set(rows.map(\.account)) == ["anna"] && rows[1].session == rows[0].session)
        #expect(rows[4].session == rows[3].session && rows[0].session != "")
    }

    @Test func `with pseudonyms a viewer's name appears nowhere, even in decisions`() async throws {
        let stage = try await Self.stage(["record.accounts": "pseudonyms", "record.decisions": "all"])
        for _ in 0..<3 { _ = try await stage.license(for: "annabella") }
        let (licenseOne, _) = try await stage.license(for: "annabella", headers: ["X-Request-Id": "annabella-1234"])
        let wanted = try #require(stage.server.shared.pseudonyms.pseudonym(of: "annabella", at: "demo"))
        let rows = try await Self.rows(stage)
        #expect(licenseOne.status == 200 && rows.filter { $0.requestID.hasPrefix("\(wanted)-1234") }.count >= 1)
        let (ends, licenses) = (rows.filter { $0.event == .end }, rows.filter { $0.event != .end })
        #expect(licenses.count == 4 && Set(rows.map(\.account)) == [wanted])
        #expect(licenses.allSatisfy { $0.decision?.contains(wanted) == true })
        // The policy lets a new session replace an old one.
        #expect(ends.allSatisfy { $0.cause == .replaced && $0.decision == nil })
        for row in rows { #expect(!String(decoding: row.json, as: UTF8.self).contains("annabella")) }
        // And the whole address is in none.
        for row in licenses { #expect(row.decision?.contains("127.0.0.1") == false) }
    }

    @Test func `a refusal before a decision still names account and key`() async throws {
        let stage = try await Self.stage(["tenants.demo.unlisted": nil])
        let exchange = try stage.exchange("skd://movie/\(UUID().uuidString)")
        let reply = try await stage.player(
            "fairplay", "POST", body: exchange.spc.revealed,
            bearer: try stage.token("anna"))
        #expect(reply.status >= 400)
        let rows = try await Self.rows(stage)
        #expect(rows.map(\.event) == [.refusal] && rows[0].account == "anna" && rows[0].kid != "")
    }

    @Test func `rejected requests have rows, and a flood has one with a count`() async throws {
        let share = RefusalRowLimit()
        var row = LicenseRecordRow(.refusal, time: 1)
        (row.tenant, row.api, row.code, row.requestID) = ("demo", "none", "rateLimit", "r")
        var rows: [LicenseRecordRow] = []
        for _ in 0..<RefusalRowLimit.perSecond + 70 { rows += share.rows(of: row, at: .seconds(5)) }
        #expect(rows.count == RefusalRowLimit.perSecond)
        let rest = share.take(at: .seconds(6))
        #expect(rest.map(\.count) == [70] && rest.map(\.requestID) == [""] && rest.map(\.code) == ["rateLimit"])
        #expect(share.take(at: nil).isEmpty)
        #expect(share.rows(of: row, at: .seconds(6)) == [row])
    }

    @Test func `one tenant's flood costs no other refusal its row`() {
        let share = RefusalRowLimit()
        func refusal(_ tenant: String) -> LicenseRecordRow {
            var row = LicenseRecordRow(.refusal, time: 1)
            (row.tenant, row.api, row.code) = (tenant, "none", "rateLimit")
            return row
        }
        for _ in 0..<2_000 { _ = share.rows(of: refusal("loud"), at: .seconds(5)) }
        let quiet = (0..<60).flatMap { _ in share.rows(of: refusal("quiet"), at: .seconds(5)) }
        #expect(quiet.count == RefusalRowLimit.perTenant)
        #expect(share.take(at: nil).map(\.count) == [1_500, 10])
    }

    @Test func `a rate-limited refusal has its row`() async throws {
        let time = ManualTimekeeper(date: Date())
        let stage = try await Self.stage(["limits.perTenant": 1], time: time)
        for _ in 0..<6 { _ = try await Self.clearKey(stage, token: "no") }
        let rows = try await Self.rows(stage)
        #expect(rows.map(\.code).last == "rateLimit" && rows.count == 6)
    }

    /// The reports of readiness and the console about the spool.
    private static func spool(_ stage: TestServer) async throws -> [String] {
        let checks = try await stage.operators("readyz?verbose").list("checks")
        let notices = try await stage.admin("overview").json["notices"]?.texts ?? []
        return checks.filter { $0["name"]?.text == "recordSpool" }.compactMap { $0["status"]?.text }
            + notices.filter { $0.hasPrefix("The record's spool") }.map { String($0.prefix { $0 != "," }) }
    }

    /// A record of a stage's server, on its own disk.
    private static func record(of stage: TestServer, whenFull: String, disk: SpoolDisk) throws -> LicenseRecord {
        let settings = try ServerSettings(
            json: Data(
                #"{"version":1,"record":{"folder":"s","destination":"files:r","whenFull":"\#(whenFull)"}}"#.utf8)
        ).record
        let shared = stage.server.shared
        return try LicenseRecord(
            try #require(settings), folder: stage.root.path("spool"), node: "n",
            to: RecordFiles(folder: stage.root.path("rows")), pseudonyms: shared.pseudonyms, metrics: shared.metrics,
            log: shared.log, timekeeper: stage.time, disk: disk)
    }

    @Test(arguments: ["serve", "refuse"])
    func `a full spool loses rows or refuses licenses, as configured`(_ whenFull: String) async throws {
        let stage = try await TestServer()
        let (shared, fails) = (stage.server.shared, Locked(true))
        let record = try Self.record(
            of: stage, whenFull: whenFull,
            disk: SpoolDisk(write: { fails.withLock { $0 } ? ENOSPC : SpoolDisk.writeAll($0, $1) }))
        shared.record = record
        let refused = whenFull == "refuse"
        #expect(try await stage.license().0.status == (refused ? 503 : 200))
        // A license that is not sent leaves no slot.
        #expect(try await shared.operatorAccounts.sessionCount(of: "demo", most: 10).value == (refused ? 0 : 1))
        #expect(shared.metrics.text(.prometheus).contains(#"latchkey_record_lost_total{why="failed"} 1"#))
        #expect(try await Self.spool(stage) == ["degraded", "The record's spool does not accept rows"])
        // The second is refused before it costs anything.
        #expect(try await stage.license().0.status == (refused ? 503 : 200))
        // The rows of both refusals are lost, too, before the disk is back.
        await record.spool.flush()
        fails.withLock { $0 = false }
        // A refusal's row is tried, and with it the disk.
        #expect(try await Self.clearKey(stage, token: "no") == (refused ? 503 : 401))
        record.viewers(["demo": 3])
        await record.spool.flush()
        #expect(try await stage.license().0.status == 200)
        #expect(try await Self.spool(stage) == ["passed"])
        await stage.server.stop()
        let log = await stage.log
        #expect(log.contains(#""reason":"recordLost""#) && log.contains("No space left on device"))
    }

    @Test func `where rows come first, a disk that hangs delays no license, and a refusal waits for its row`()
        async throws
    {
        let stage = try await TestServer()
        let (shared, gate, hangs) = (stage.server.shared, DispatchSemaphore(value: 0), Locked(true))
        let isReached = Promise<Void, Never>()
        let record = try Self.record(
            of: stage, whenFull: "refuse",
            disk: SpoolDisk(write: { file, bytes in
                _ = isReached.resolve(.success(()))
                if hangs.withLock({ $0 }) { gate.wait() }
                return SpoolDisk.writeAll(file, bytes)
            }))
        var report = LicenseReport(tenant: "demo", endpoint: .fairPlay, requestID: "r", at: .zero)
        report.outcome = .refused(LicenseRefusal(.policy(.right), reason: "No right."))
        let mayBeSent = Locked<Bool?>(nil)
        let began = ContinuousClock.now
        let keeping = startTask { [report] in
            let answer = await record.keep(report, LicenseRequestFacts())
            mayBeSent.withLock { $0 = answer }
        }
        try await isReached.value
        for _ in 0..<100 { await Task.yield() }
        // A row is late after a second, however slow this machine is.
        #expect(mayBeSent.withLock { $0 } == nil || .now - began >= .seconds(1))
        shared.record = record
        #expect(try await stage.license().0.status == 200)
        await keeping.value
        #expect(mayBeSent.withLock { $0 } == true)
        hangs.withLock { $0 = false }
        gate.signal()
        await record.spool.flush()
        #expect(try record.spool.next()?.batch.lines.count == 2)
    }

    @Test func `a request refused because no row can be kept belongs to its tenant, and later has a row`()
        async throws
    {
        let stage = try await TestServer()
        let (shared, fails) = (stage.server.shared, Locked(true))
        let record = try Self.record(
            of: stage, whenFull: "refuse",
            disk: SpoolDisk(write: { fails.withLock { $0 } ? ENOSPC : SpoolDisk.writeAll($0, $1) }))
        shared.record = record
        #expect(try await stage.license().0.status == 503)
        fails.withLock { $0 = false }
        #expect(try await stage.license().0.status == 503)
        await record.spool.flush()
        let lines = try #require(try record.spool.next()?.batch.lines)
        let row = try #require(lines.first.flatMap { JSONValue(Data($0.json)) })
        #expect(row["tenant"]?.text == "demo" && row["code"]?.text == "recordUnavailable", "\(row.canonicalText)")
    }

    @Test(arguments: ["always", "written"])
    func `rows lost by a disk are counted, a torn one only if its license may have been sent`(
        _ sync: String
    ) async throws {
        let stage = try await TestServer()
        let settings = try ServerSettings(
            json: Data(
                #"{"version":1,"record":{"folder":"s","destination":"files:r","sync":"\#(sync)"}}"#.utf8)
        ).record
        let (shared, folder) = (stage.server.shared, stage.root.path("spool"))
        func counts(_ count: Int) -> Bool {
            shared.metrics.text(.prometheus).contains("latchkey_record_lost_total{why=\"damaged\"} \(count)\n")
        }
        do {
            let former = try RecordSpool(folder: folder, node: "n")
            await former.append(LicenseRecordRow(.license, time: 1))
            await former.close()
            former.leaveFolder()
        }
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".rows") })
        #expect(truncate("\(folder)/\(name)", 60) == 0)
        let record = try LicenseRecord(
            try #require(settings), folder: folder, node: "n", to: RecordFiles(folder: stage.root.path("rows")),
            pseudonyms: shared.pseudonyms, metrics: shared.metrics, log: shared.log, timekeeper: stage.time)
        #expect(try record.spool.next() == nil)
        let torn = sync == "always" ? 0 : 1
        #expect(counts(torn))
        // A hundred rows whose file is deleted.
        record.viewers(Dictionary(uniqueKeysWithValues: (0..<100).map { ("t\($0)", 1) }))
        await record.spool.flush()
        let now = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".rows") })
        try FileManager.default.removeItem(atPath: "\(folder)/\(now)")
        #expect(try record.spool.next() == nil)
        #expect(counts(torn + 100))
        await stage.server.stop()
        let log = await stage.log
        #expect(log.contains("100 rows of the record were lost"))
        #expect(log.contains(sync == "always" ? "was not sent" : "may have been sent"))
    }

    @Test func `a killed server leaves its rows to the next one`() async throws {
        let stage = try await Self.stage()
        _ = try await stage.license()
        let record = try #require(stage.server.shared.record)
        #expect(record.spool.standing.rows == 1)
        // The state after a crash: a copy of the folder.
        let left = stage.root.path("left")
        try FileManager.default.copyItem(atPath: stage.folder.url.appending(path: "spool").path, toPath: left)
        await stage.server.stop()
        let spool = try RecordSpool(folder: left, node: "n")
        #expect(try spool.next()?.batch.lines.count == 1)
    }

    @Test func `days older than configured are dropped`() async throws {
        let stage = try await Self.stage(
            ["record.days": 2],
            prepare: { folder in
                for day in ["2020-01-01", "2100-01-01"] {
                    try FileManager.default.createDirectory(
                        at: folder.file("rows/\(day)"), withIntermediateDirectories: true)
                }
            })
        let rows = stage.folder.file("rows").path
        while FileManager.default.fileExists(atPath: "\(rows)/2020-01-01") { await Task.yield() }
        #expect(FileManager.default.fileExists(atPath: "\(rows)/2100-01-01"))
    }

    @Test func `the viewer count is recorded each minute if the store knows it`() async throws {
        let stage = try await Self.stage()
        _ = try await stage.license()
        let record = try #require(stage.server.shared.record)
        let sessions = stage.server.shared.sessions
        record.viewers(await sessions.count(["demo"]).mapValues(\.value))
        let rows = try await Self.rows(stage)
        #expect(rows.map(\.event) == [.license, .viewers])
        #expect(rows[1].tenant == "demo" && rows[1].count == 1)
    }

    @Test func `the check reports the record, and an unusable folder or destination`() async throws {
        let stage = try await Self.stage()
        await stage.server.stop()
        let path = stage.folder.configuration
        #expect(try await ServerCheck(path, derivation: nil).summary.hasSuffix(", a record of licenses"))
        for wrong in ["sqlite:rows", "redis://127.0.0.1:1"] {
            try stage.folder.edit(["record.destination": .text(wrong)])
            let problems = try await ServerCheck(path, derivation: nil).problems
            let expected = "record.destination: The record's destination must be PostgreSQL or files. Use"
            #expect(problems.reason.contains("\(expected) postgresql://… or files:PATH."))
        }
        try stage.folder.edit(["record.destination": "files:rows", "record.folder": "no/such/spool"])
        #expect(try await ServerCheck(path, derivation: nil).problems.reason.contains("no/such cannot be written"))
        let plain = try await TestServer()
        await plain.server.stop()
        let without = try await ServerCheck(plain.folder.configuration, derivation: nil)
        #expect(without.summary.hasSuffix(", no record of licenses"))
        #expect(plain.server.current.settings.recordHazards(isProduction: true).count == 1)
        #expect(plain.server.current.settings.recordHazards(isProduction: false).isEmpty)
    }

    @Test func `a destination's password in a file others can read is refused`() async throws {
        let stage = try await Self.stage()
        await stage.server.stop()
        let path = stage.folder.configuration
        try stage.folder.edit(["record.destination": "postgresql://node:hunter2@127.0.0.1/x"])
        #expect(chmod(path, 0o644) == 0)
        let error = #expect(throws: FileError.self) { try ConfigurationFile(path) }
        #expect(error?.code == "passwordOpenToOthers" && error?.reason.contains("record.destination") == true)
        #expect(error?.reason.contains("hunter2") == false)
        #expect(chmod(path, 0o600) == 0)
        #expect(try ConfigurationFile(path).settings.record?.destination.hasPrefix("postgresql:") == true)
    }

    @Test(arguments: [
        ("anna", "anna", "X"), ("of anna.", "anna", "of X."), ("annabel", "anna", "annabel"),
        ("anna-anna/annas", "anna", "X-X/annas"), ("nothing", "anna", "nothing"), ("ännanna", "anna", "ännanna"),
    ])
    func `a name is replaced only as a whole word`(_ text: String, _ name: String, _ expected: String) {
        #expect(text.replacing(name: name, by: "X") == expected)
    }
}
