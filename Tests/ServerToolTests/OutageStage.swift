import Foundation
import LatchkeyCore
import LatchkeyStores
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyEngines
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

/// A server whose keys and audit are in a database that can be taken away, with a copy of its own on disk.
final class OutageStage: Sendable {
    let server: ServerUnderTest
    let database: SwitchedDatabase
    /// What nodes of a cluster sent elsewhere.
    let redirections: Locked<[ClusterRedirection: UInt64]>
    private let lines: Locked<Data>
    private let writer: LineWriter

    /// A server with three imported keys.
    /// - Parameters:
    ///   - change: changes the configuration before the server reads it.
    ///   - sessions: where sessions are. Defaults to the database's own engine.
    convenience init(
        _ change: (inout String) -> Void = { _ in },
        sessions: (SwitchedDatabase) throws -> any RecordStore = { $0.sessions }
    ) async throws {
        let folder = try TemporaryFolder()
        let demo = try DemoFolder.patient(in: folder)
        try ServerUnderTest.replaceAdmins(in: demo.configuration)
        try ServerStage.edit(demo.configuration) { text in
            text = text.replacing(#""unlisted": "derive","#, with: "")
            text = text.replacing(#""outage": {"sessionStore": "allow:2m"},"#, with: "")
            change(&text)
        }
        let database = SwitchedDatabase()
        let file = try ConfigurationFile(demo.configuration)
        let wrapper = try KeyEncryptionKey(try #require(file.settings.keyEncryptionKey), in: file.secrets)
        _ = try await TenantSecrets.create("demo", in: database, with: KeyEncryptionKeys(wrapper))
        try await self.init(demo, folder, database, sessions(database))
        let document = ServerUnderTest.document(1...3)
        try #require(try await server.admin("tenants/demo/cpix", "POST", body: document).status == 200)
    }

    private init(
        _ demo: DemoFolder, _ folder: TemporaryFolder, _ database: SwitchedDatabase, _ sessions: any RecordStore
    ) async throws {
        self.database = database
        let redirections = Locked<[ClusterRedirection: UInt64]>([:])
        self.redirections = redirections
        let lines = Locked(Data())
        self.lines = lines
        writer = LineWriter { line in lines.withLock { $0.append(line) } }
        let file = try ConfigurationFile(demo.configuration)
        let copy = try SQLiteNodeCopy(path: folder.path("copy.db"))
        let keys = GuardedKeyStore(
            database, health: EngineHealth("keyStore"), copy: copy, pending: try await PendingChanges.open(copy),
            question: { () throws(StoreError) in try database.ask() })
        await keys.probe()
        let engines = ServerEngines(
            settings: file.settings.stores, sessions: sessions,
            redirections: { redirections.withLock { $0 } }, keys: keys, audit: database,
            auditProbe: { () throws(StoreError) in try database.ask() },
            changes: { () throws(StoreError) in
                try database.ask()
                return AsyncStream { $0.finish() }
            }, closing: { copy.close() })
        let server = try await LicenseServer(
            file, lines: writer, engines: engines)
        self.server = ServerUnderTest(server: server, demo: demo, folder: folder)
    }

    /// Another node of the same folder and database, as a start makes it.
    func restarted() async throws -> OutageStage {
        await server.server.stop(within: .zero)
        return try await OutageStage(server.demo, server.folder, database, database.sessions)
    }

    /// What the server does by the clock in half a minute.
    func tick() async {
        await server.server.shared.engines.look(atLeastEvery: .zero)
        await server.server.lookAtEngines()
        await server.server.apply(.everything)
    }

    func end() async { await server.server.stop(within: .zero) }

    /// All lines that were logged until now.
    var log: String {
        get async {
            await writer.flush()
            return lines.withLock { String(decoding: $0, as: UTF8.self) }
        }
    }

    func license(_ number: Int, token: String? = nil) async throws -> Reply {
        try await server.license(
            number, token: token ?? server.token("viewer-\(UUID())"), requestID: UUID().uuidString)
    }

    /// The status of `/readyz`, and its word.
    func ready() async throws -> (Int, String) {
        await server.server.lookAtEngines()
        let reply = try await ServerUnderTest.ask(
            server.server.addresses.operators.url + "/readyz?verbose", "GET", nil, [:])
        return (reply.status, reply.json["status"]?.text ?? "")
    }

    /// The value of one series.
    func metric(_ series: String) async throws -> Double {
        let url = server.server.addresses.operators.url + "/metrics"
        let text = try await ServerUnderTest.ask(url, "GET", nil, [:]).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(series) ") }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) }, "\(series) is not there")
    }

    static func kid(_ number: Int) throws -> KeyID { try #require(KeyID(ServerUnderTest.kid(number))) }
}

/// A store that holds more than it counts.
struct PartlyCounted: RecordStore {
    let engine = "partly"

    private var away: StoreError { StoreError(.unavailable, engine, reason: "The test keeps nothing.") }

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading { throw away }

    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool { throw away }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool { throw away }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] { throw away }

    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount { RecordCount(2, isWhole: false) }
}
