import Foundation
import LatchkeyTerminal
import SwiftOverlayShims
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

@Suite(.timeLimit(.minutes(5)), .enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
struct CheckTests {
    @Test func `a valid configuration passes with notices only for its test credentials`() async throws {
        let stage = try await CheckStage()
        let run = await stage.check()
        #expect(
            run.status == .yes
                && run.output.contains("No faults: 1 tenant, 1 policy, 1 certificate, no record of licenses."),
            "\(run.error)")
        let notices = run.error.split(separator: "\n").filter { !$0.contains("test") }
        #expect(notices.isEmpty, "\(run.error)")
    }

    @Test(arguments: BrokenConfiguration.all)
    func `each broken configuration is reported with place, remedy and no secret`(_ one: BrokenConfiguration)
        async throws
    {
        let stage = try await CheckStage()
        try await one.spoil(stage)
        let run = await stage.check()
        #expect(run.status == .no, "\(run.output)")
        for text in one.expected { #expect(run.error.contains(text), "\(run.error)") }
        #expect(!run.error.contains("hunter") && !run.error.contains("TransportError"), "\(run.error)")
        withExtendedLifetime(stage) {}
    }

    @Test(arguments: DangerousDefault.all)
    func `each dangerous default is a notice at the check and the start`(_ one: DangerousDefault) async throws {
        let stage = try await CheckStage()
        try await one.spoil(stage)
        let run = await stage.check()
        #expect(run.status == .yes && run.error.contains(one.place), "\(run.error)")
        let server = try await TestServer(stage.folder)
        #expect(server.server.current.notices.contains { $0.text.hasPrefix(one.place) })
    }

    @Test(arguments: ["keys", "blocks", "identity", "audit", "records", "license_records"])
    func `a locked table is one finding, which hides no fault of another part`(_ table: String) async throws {
        let stage = try await CheckStage()
        try stage.folder.edit([
            "stores.sessions": .text(stage.address), "stores.fingerprint": "00000000000000000000000000000000",
            "record": ["folder": "spool", "destination": .text(stage.address)],
        ])
        try await stage.lock(table, "ACCESS EXCLUSIVE")
        let problems = try await ServerCheck(stage.folder.configuration, derivation: nil).problems.problems
        #expect(problems.count { $0.reason.contains("55P03") && $0.remedy.contains("pg_locks") } == 1, "\(problems)")
        let others = problems.filter { !$0.reason.contains("55P03") }
        // The fingerprint is in a part of the store that answers, or cannot be read.
        let isReadable = !["keys", "blocks", "identity"].contains(table)
        #expect(others.map(\.place) == (isReadable ? ["stores.fingerprint"] : []), "\(problems)")
    }

    @Test func `a port in use is reported with its process`() async throws {
        let stage = try await CheckStage()
        let other = try LoopbackServer { _, _ in .send("") }
        try stage.folder.edit(["players.port": .number(Double(other.port))])
        let run = await stage.check()
        #expect(run.status == .yes)
        #expect(run.error.contains("players.port: 127.0.0.1:\(other.port) is in use by "), "\(run.error)")
        #expect(run.error.contains("(process \(ProcessInfo.processInfo.processIdentifier))"), "\(run.error)")
    }

    @Test func `the owner of a port is found among many listeners`() throws {
        // The kernel's table of them is longer than a page, within which Foundation's readers end.
        let servers = try (0..<60).map { _ in try LoopbackServer { _, _ in .send("") } }
        for server in servers {
            #expect(
                PortHolder.name(of: UInt16(server.port))?
                    .hasSuffix("(process \(ProcessInfo.processInfo.processIdentifier))") == true)
        }
    }

    @Test func `a record that cannot keep rows is a fault, and a working one passes`() async throws {
        let stage = try await CheckStage()
        try stage.folder.edit(["record": ["folder": "spool", "destination": "files:rows"]])
        let sound = await stage.check()
        #expect(sound.status == .yes && sound.output.contains(", a record of licenses."), "\(sound.error)")
        // A full file system, to which only its owner may still write.
        try stage.folder.edit(["record.folder": "/proc/latchkey"])
        let full = await stage.check()
        #expect(full.status == .no && full.error.contains("record.folder: "), "\(full.error)")
    }

    @Test func `a fault that does not prevent reading does not prevent a start; an invalid form does`()
        async throws
    {
        let stage = try await CheckStage()
        try stage.folder.edit(["tenants.demo.tokens.keys": "https://127.0.0.1:1/jwks.json"])
        _ = try await TestServer(stage.folder)
        try stage.folder.edit(["stores.keys": nil])
        await #expect(throws: ServerProblems.self) { try await TestServer(stage.folder) }
    }

    /// The check tries every command that a store sends: a user with only these rights takes, counts and stops slots.
    @Test func `a Redis user with only the rights that the check tries can do all a store does`() async throws {
        let stage = try await CheckStage()
        let commands = RedisCommandUse.all.map { "+\($0.name)" } + ["+role", "+wait"]
        try await stage.redisUser(rights: ["~latchkey:*", "-@all"] + commands)
        let run = await stage.check()
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.error.contains("does not reveal its settings"))
        let stores = try await Stores.open(StoreAddress(stage.sessions), recordLimit: .seconds(30))
        let key = RecordKey(.account, tenant: "demo", name: "anna")
        let (now, token) = (Date(), RecordKey(.token, tenant: "demo", name: "t"))
        func write(_ version: UInt64, _ key: RecordKey, _ former: UInt64?) async throws -> Bool {
            try await stores.records.write(
                Record(version: version, bytes: [1]), at: key, replacing: former, until: now + 600, counting: [now + 60]
            )
        }
        let count = { () async throws in try await stores.records.count(of: .account, "demo", most: 9) { _ in [] } }
        #expect(try await write(1, token, nil))
        #expect(try await write(1, key, nil))
        #expect(try await count() == RecordCount(0, isWhole: true), "The test's bytes count nothing.")
        #expect(try await write(2, key, 1))
        #expect(try await count() == RecordCount(1, isWhole: true))
        #expect(try await stores.records.page(of: .account, "demo", prefix: "", after: nil, limit: 9).count == 1)
        #expect(try await stores.records.remove(key, version: 2))
        #expect(try await stores.records.remove(token, version: 1))
    }

    @Test(arguments: ["200 OK", "204 No", "401 No", "405 No", "501 No"])
    func `a callout that answers passes, whatever its answer`(_ status: String) async throws {
        let stage = try await CheckStage()
        try stage.callout(answering: status)
        let run = await stage.check()
        #expect(run.status == .yes && !run.error.contains("callout"), "\(run.error)")
    }

    @Test(arguments: ["404 No", "500 No"])
    func `a callout that may be missing is a notice`(_ status: String) async throws {
        let stage = try await CheckStage()
        try stage.callout(answering: status)
        let run = await stage.check()
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.error.contains("tenants.demo.callout.url: The callout responds with \(status.prefix(3))"))
    }

    @Test func `a callout gets no viewer's request`() async throws {
        let stage = try await CheckStage()
        let asked = Locked<[String]>([])
        let service = try LoopbackServer { request, _ in
            asked.withLock { $0.append(request) }
            return .send("HTTP/1.0 204 No\r\nContent-Length: 0\r\n\r\n")
        }
        try stage.callout(at: service.port)
        #expect(await stage.check().status == .yes)
        let requests = asked.withLock { $0 }
        #expect(requests.count == 1 && requests.allSatisfy { $0.hasPrefix("OPTIONS /ask ") }, "\(requests)")
        #expect(!requests.contains { $0.contains("user") || $0.contains("asset") })
    }

    // MARK: - Nothing is written

    @Test func `a check writes nothing to PostgreSQL, Redis or folders`() async throws {
        let stage = try await CheckStage()
        let port = try await stage.ownRedis()
        try stage.store("sessions", "redis://127.0.0.1:\(port)")
        let redis = try #require(stage.redisProcess)
        try redis.command("SET", "somebody's", "record")
        let (rows, files) = (try await stage.rows(), try stage.files())
        try redis.command("CONFIG", "RESETSTAT")
        #expect(await stage.check().status == .yes)
        // A new current key, which only a check has seen, and a missing tenant.
        try stage.secret(String(repeating: "ab", count: 32), to: "second.hex")
        try stage.folder.edit([
            "keyEncryptionKey": ["id": "2", "file": "second.hex"],
            "formerKeyEncryptionKey": ["id": "demo", "file": "kek.hex"], "tenants.dmeo": [:],
        ])
        let changed = try stage.files()
        #expect(changed != files)
        #expect(await stage.check().status == .no)
        #expect(try stage.files() == changed)
        #expect(try await stage.rows() == rows)
        let used = try #require(try redis.command("INFO", "commandstats").text)
        let commands = Set(
            used.split(whereSeparator: \.isNewline).compactMap { $0.firstMatch(of: /cmdstat_([a-z|]+)/)?.1 })
        let asked = ["ping", "role", "info", "time", "config|resetstat", "config"] + RedisCommandUse.all.map(\.name)
        #expect(commands == Set(asked.map { Substring($0) }).subtracting(["config"]), "\(commands)")
        #expect(try redis.command("DBSIZE") == .integer(1))
        // The one write is the test's own; Redis counts each, and has run no script.
        let counters = try #require(try redis.command("INFO").text)
        #expect(counters.contains("rdb_changes_since_last_save:1\r"), "\(counters)")
        #expect(counters.contains("number_of_cached_scripts:0\r"), "\(counters)")
    }

    @Test(arguments: [false, true])
    func `a check leaves SQLite files and their folder unchanged, at rest and in use`(_ isInUse: Bool) async throws {
        let server = try await TestServer(["stores.copy": "sqlite:copy.db"])
        let folder = server.folder
        _ = try await server.server.shared.audit.append(AuditEvent(.keyDisabled, of: "demo/1", by: "admin:ops"))
        if !isInUse {
            await server.stop()
            // The threads of the stores end on their own time, and the last one removes the log.
            for name in ["latchkey.db-wal", "copy.db-wal"] {
                while FileManager.default.fileExists(atPath: folder.file(name).path) {
                    await Task.yield()
                }
            }
        }
        let before = try FolderFacts(folder.url, isInUse: isInUse)
        #expect(before.names.contains { $0.hasSuffix("-wal") } == isInUse)
        let run = await ToolRun("run", "--check", "--config", folder.configuration)
        #expect(run.status == .yes, "\(run.error)")
        #expect(try FolderFacts(folder.url, isInUse: isInUse) == before)
        if isInUse { await server.stop() }
    }
}

/// The contents of a folder and its subfolders: names, bytes, times.
struct FolderFacts: Equatable {
    private(set) var names: [String] = []
    private var facts: [String: [String]] = [:]

    /// - Parameter isInUse: whether another process has SQLite files open; then their index is not read.
    init(_ folder: URL, isInUse: Bool = false) throws {
        names = [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder.path)).sorted()
        for name in names {
            let path = folder.path + "/" + name
            var facts = stat()
            guard lstat(path, &facts) == 0 else { continue }
            let isFolder = facts.st_mode & S_IFMT == S_IFDIR
            if isInUse, name.hasSuffix("-shm") { continue }
            self.facts[name] = [
                "\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)", "\(facts.st_mode)",
                isFolder ? "" : try Data(contentsOf: URL(filePath: path)).base64EncodedString(),
            ]
        }
    }
}
