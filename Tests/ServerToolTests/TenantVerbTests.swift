import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Tenants get their keys by a verb, and by nothing else.
@Suite(.timeLimit(.minutes(2))) struct TenantVerbTests {
    private let folder: ServerFolder
    private var configuration: String { folder.configuration }
    private var database: URL { folder.file("latchkey.db") }

    init() throws { folder = try ServerFolder() }

    private func tenants() async throws -> Set<String> {
        let engines = try await ServerEngines.open(ConfigurationFile(configuration))
        defer { engines.close() }
        return Set(try await engines.keys.dataKeys().map(\.tenant))
    }

    private func fingerprint() async throws -> DatabaseFingerprint {
        let engines = try await ServerEngines.open(ConfigurationFile(configuration))
        defer { engines.close() }
        return try #require(try await engines.keys.fingerprint())
    }

    private func start() async throws {
        let server = try await LicenseServer(ConfigurationFile(configuration), lines: LineWriter { _ in })
        await server.stop(within: .zero)
    }

    @Test func `the verb makes a tenant's keys once, names the database's owner, and is audited`() async throws {
        let first = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(first.status == .yes, "\(first.error)")
        #expect(first.output.hasPrefix("The tenant “demo” has its keys.\n"))
        #expect(first.output.contains("fingerprint is \(try await fingerprint())."))
        let again = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(again.status == .yes)
        #expect(again.output.hasPrefix("The tenant “demo” already had its keys.\n"))
        let engines = try await ServerEngines.open(ConfigurationFile(configuration))
        defer { engines.close() }
        let events = try await engines.audit.entries(from: 1, limit: 10).map { JSONValue(Data($0.text.utf8)) }
        #expect(events.map { $0?["action"]?.text } == ["tenantCreated"])
        #expect(events.first??["object"]?.text == "demo")
        #expect(events.first??["actor"]?.text == "node:\(ProcessInfo.processInfo.hostName)")
        #expect(try await engines.keys.dataKeys().count == 1)
        #expect(try await engines.keys.seeds(of: "demo").count == 1)
        try await start()
    }

    @Test func `no start, check or misspelling makes a tenant, and each names the verb`() async throws {
        let fresh = await ToolRun("run", "--check", "--config", configuration)
        #expect(fresh.status == .no)
        #expect(fresh.error.contains("tenant create demo --config \(configuration)"), "\(fresh.error)")
        #expect(!FileManager.default.fileExists(atPath: database.path), "The check made a database.")
        let error = await #expect(throws: ServerProblems.self) { try await start() }
        #expect(error?.reason.contains("tenant create demo") == true, "\(error?.reason ?? "")")
        #expect(try await tenants() == [])

        #expect(await ToolRun("tenant", "create", "demo", "--config", configuration).status == .yes)
        try folder.replace(#""demo":{"#, #""dmeo":{"#)
        let check = await ToolRun("run", "--check", "--config", configuration)
        #expect(
            check.error.contains("tenants.dmeo.keys") && check.error.contains("it has those of “demo”"),
            "\(check.error)")
        await #expect(throws: ServerProblems.self) { try await start() }
        #expect(try await tenants() == ["demo"])
        let verb = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(verb.status == .no)
        #expect(verb.error.contains("Did you mean “dmeo”?"), "\(verb.error)")
        #expect(try await tenants() == ["demo"])
    }

    @Test func `a reload with a new tenant keeps the old configuration until the verb has run`() async throws {
        let stage = try await TestServer(folder)
        try folder.edit(["tenants.news.policy": "demo"])
        let error = await #expect(throws: ServerProblems.self) { try await stage.server.reload() }
        #expect(error?.reason.contains("tenant create news") == true)
        #expect(stage.server.current.tenants.keys.sorted() == ["demo"])
        #expect(await ToolRun("tenant", "create", "news", "--config", configuration).status == .yes)
        try await stage.server.reload()
        #expect(stage.server.current.tenants.keys.sorted() == ["demo", "news"])
    }

    @Test func `the list shows which tenants have keys`() async throws {
        try await folder.makeTenants()
        try folder.edit(["tenants.news.policy": "demo"])
        let list = await ToolRun("tenant", "list", "--config", configuration)
        #expect(list.status == .no)
        #expect(list.output.contains("demo: has keys\n"))
        #expect(list.output.contains("news: has no keys: latchkey-server tenant create news"))
        #expect(list.output.contains("fingerprint is \(try await fingerprint())."))
        #expect(try await tenants() == ["demo"])
    }

    @Test func `each start makes in-memory keys, and the verb says so`() async throws {
        for store in ["sessions", "keys", "audit"] { try folder.edit(["stores.\(store)": "memory"]) }
        try folder.edit(["keyEncryptionKey": nil])
        try await start()
        let verb = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(verb.status == .no)
        #expect(verb.error.contains("each start creates new ones"), "\(verb.error)")
    }

    // MARK: - Another database

    @Test func `a different database than remembered is refused with both fingerprints`() async throws {
        try await folder.makeTenants()
        let right = try await fingerprint()
        try folder.edit(["stores.fingerprint": "\(right)"])
        try await start()
        try folder.edit(["stores.keys": "sqlite:other.db"])
        let error = await #expect(throws: ServerProblems.self) { try await start() }
        let other = try await fingerprint()
        #expect(other != right)
        #expect(error?.reason.contains("stores.fingerprint: The keys' database is \(other)") == true)
        #expect(error?.reason.contains("expects \(right)") == true, "\(error?.reason ?? "")")
        let verb = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(verb.status == .no)
        #expect(verb.error.contains("\(right)") && verb.error.contains("\(other)"), "\(verb.error)")
        #expect(try await tenants() == [])
    }

    @Test func `a copy of a live file without its log is refused by name and left unchanged`() async throws {
        // A store that stays open keeps everything in the log.
        let live = try await ServerEngines.open(ConfigurationFile(configuration))
        defer { live.close() }
        #expect(await ToolRun("tenant", "create", "demo", "--config", configuration).status == .yes)
        #expect(try await live.keys.fingerprint() != nil)
        // As `cp latchkey.db` does, while the server runs.
        let copied = try Data(contentsOf: database)
        let copy = folder.file("copy.db")
        try copied.write(to: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
        try folder.replace("sqlite:latchkey.db", "sqlite:copy.db")
        let reason = "The file was copied without its -wal log while a server had it open"
        let check = await ToolRun("run", "--check", "--config", configuration)
        #expect(check.status == .no)
        #expect(check.error.contains(reason), "\(check.error)")
        #expect(try Data(contentsOf: copy) == copied, "The check changed the file.")
        let error = await #expect(throws: ServerProblems.self) { try await start() }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        let verb = await ToolRun("tenant", "create", "demo", "--config", configuration)
        #expect(verb.status == .no && verb.error.contains(reason), "\(verb.error)")
        #expect(try Data(contentsOf: copy) == copied)
    }

    @Test func `a demo whose database is lost gets no new keys silently`() async throws {
        try Data().write(to: database)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database.path)
        try await folder.makeTenants()
        #expect(try await tenants() == [])
    }

    @Test func `a tenant whose seed is missing is not reported as a misspelling`() async throws {
        let engines = try await ServerEngines.open(ConfigurationFile(configuration))
        let file = try ConfigurationFile(configuration)
        let kek = try KeyEncryptionKey(try #require(file.settings.keyEncryptionKey), in: file.secrets)
        var generator = SystemRandomNumberGenerator()
        let wrapped = try kek.wrap(DataKey(tenant: "demo", version: 1, using: &generator), using: &generator)
        #expect(try await engines.keys.put(wrapped, replacing: nil))
        engines.close()
        let check = await ToolRun("run", "--check", "--config", configuration)
        #expect(check.error.contains("has a data key of the tenant “demo” but no seed"), "\(check.error)")
        #expect(await ToolRun("tenant", "create", "demo", "--config", configuration).status == .yes)
        try await start()
    }
}
