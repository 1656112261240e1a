import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyTesting
import Testing

@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(5)), .enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
struct CheckTests {
    @Test func `a sound configuration passes without a notice but for its test credentials`() async throws {
        let stage = try await CheckStage()
        let run = await stage.check()
        #expect(
            run.status == .yes && run.output.contains("All is right: 1 tenant, 1 policy, 1 certificate."),
            "\(run.error)")
        let notices = run.error.split(separator: "\n").filter { !$0.contains("test") }
        #expect(notices.isEmpty, "\(run.error)")
    }

    @Test(arguments: BrokenConfiguration.all)
    func `each broken configuration is told with place and remedy, and no secret`(_ one: BrokenConfiguration)
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
    func `each dangerous default is a notice of the check and of the start`(_ one: DangerousDefault) async throws {
        let stage = try await CheckStage()
        try await one.spoil(stage)
        let run = await stage.check()
        #expect(run.status == .yes && run.error.contains(one.place), "\(run.error)")
        let server = try await LicenseServer.start(
            ConfigurationFile(stage.folder.configuration), lines: LineWriter { _ in })
        #expect(server.current.notices.contains { $0.hasPrefix(one.place) })
        await server.stop(within: .zero)
    }

    @Test func `a port that another process has is told by whom`() async throws {
        let stage = try await CheckStage()
        let other = try LoopbackServer { _, _ in .send("") }
        try stage.replace(
            #""players": {"address": "127.0.0.1", "port": 0}"#,
            #""players": {"address": "127.0.0.1", "port": \#(other.port)}"#)
        let run = await stage.check()
        #expect(run.status == .yes)
        #expect(run.error.contains("players.port: 127.0.0.1:\(other.port) is taken by "), "\(run.error)")
        #expect(run.error.contains("(process \(ProcessInfo.processInfo.processIdentifier))"), "\(run.error)")
    }

    @Test func `a fault that keeps nothing from being read keeps no start either, and a fault of form does`()
        async throws
    {
        let stage = try await CheckStage()
        try stage.replace(#""jwks.json""#, #""https://127.0.0.1:1/jwks.json""#)
        let server = try await LicenseServer.start(
            ConfigurationFile(stage.folder.configuration), lines: LineWriter { _ in })
        await server.stop(within: .zero)
        try stage.edit { $0 = $0.replacing(/"keys": "postgresql:[^"]*",\s/, with: "") }
        await #expect(throws: ServerProblems.self) {
            _ = try await LicenseServer.start(
                ConfigurationFile(stage.folder.configuration), lines: LineWriter { _ in })
        }
    }

    // MARK: - Nothing is written

    @Test func `a check writes nothing to PostgreSQL, to Redis, and to folders`() async throws {
        let stage = try await CheckStage()
        let port = try await stage.ownRedis()
        try stage.store("sessions", "redis://127.0.0.1:\(port)")
        let redis = try #require(stage.redisProcess)
        try redis.command("SET", "somebody's", "record")
        let (rows, files) = (try await stage.rows(), try stage.files())
        try redis.command("CONFIG", "RESETSTAT")
        #expect(await stage.check().status == .yes)
        // A new key in force, that only a check has seen, and a tenant that is not there.
        try stage.secret(String(repeating: "ab", count: 32), to: "second.hex")
        try stage.replace(
            #""keyEncryptionKey": {"id": "demo", "file": "kek.hex"}"#,
            #""keyEncryptionKey": {"id": "2", "file": "second.hex"}, "formerKeyEncryptionKey": {"id": "demo", "file": "kek.hex"}"#
        )
        try stage.replace(#""tenants": {"#, #""tenants": {"dmeo": {},"#)
        let changed = try stage.files()
        #expect(changed != files)
        #expect(await stage.check().status == .no)
        #expect(try stage.files() == changed)
        #expect(try await stage.rows() == rows)
        let used = try #require(try redis.command("INFO", "commandstats").text)
        let commands = Set(
            used.split(whereSeparator: \.isNewline).compactMap { $0.firstMatch(of: /cmdstat_([a-z|]+)/)?.1 })
        #expect(commands.isSubset(of: ["ping", "role", "info", "time", "config|resetstat", "config"]), "\(commands)")
        #expect(try redis.command("DBSIZE") == .integer(1))
    }

    @Test(arguments: [false, true])
    func `a check leaves files of SQLite and their folder as they are, at rest and in use`(_ isInUse: Bool) async throws
    {
        let root = try TemporaryFolder()
        let folder = try DemoFolder.patient(in: root)
        try ServerStage.edit(folder.configuration) {
            $0 = $0.replacing(#""stores": {"#, with: #""stores": {"copy": "sqlite:copy.db", "#)
        }
        try await folder.makeTenants()
        let file = try ConfigurationFile(folder.configuration)
        let server = try await LicenseServer.start(file, lines: LineWriter { _ in })
        _ = try await server.shared.audit.append(AuditEvent(.keyDisabled, of: "demo/1", by: "admin:ops"))
        if !isInUse {
            await server.stop()
            // The threads of the stores end by themselves, and the last one takes the log away.
            for name in ["latchkey.db-wal", "copy.db-wal"] {
                while FileManager.default.fileExists(atPath: folder.url.appending(path: name).path) {
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

/// What is in a folder and below it: names, bytes, times.
struct FolderFacts: Equatable {
    private(set) var names: [String] = []
    private var facts: [String: [String]] = [:]

    /// - Parameter isInUse: whether another process has files of SQLite open, whose index then is not looked into.
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
