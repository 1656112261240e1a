import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores
import LatchkeyTesting
import Testing

@testable import LatchkeyServerTool

/// A server whose keys and audit are in a database that can be taken away, with a copy of its own on disk.
final class OutageStage: Sendable {
    let server: ServerUnderTest
    let database: SwitchedDatabase
    private let lines: Locked<Data>

    /// A server with three imported keys.
    /// - Parameter change: changes the configuration before the server reads it.
    convenience init(_ change: (inout String) -> Void = { _ in }) async throws {
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
        try await self.init(demo, folder, database)
        let document = ServerUnderTest.document(1...3)
        try #require(try await server.admin("tenants/demo/cpix", "POST", body: document).status == 200)
    }

    private init(_ demo: DemoFolder, _ folder: TemporaryFolder, _ database: SwitchedDatabase) async throws {
        self.database = database
        let lines = Locked(Data())
        self.lines = lines
        let file = try ConfigurationFile(demo.configuration)
        let copy = try SQLiteNodeCopy(path: folder.path("copy.db"))
        let keys = GuardedKeyStore(
            database, health: EngineHealth("keyStore"), copy: copy, pending: try await PendingChanges.open(copy),
            question: { () throws(StoreError) in try database.ask() })
        await keys.probe()
        let engines = ServerEngines(
            settings: file.settings.stores, sessions: database.sessions, keys: keys, audit: database,
            auditProbe: { () throws(StoreError) in try database.ask() },
            changes: { () throws(StoreError) in
                try database.ask()
                return AsyncStream { $0.finish() }
            }, closing: { copy.close() })
        let server = try await LicenseServer.start(
            file, lines: LineWriter { line in lines.withLock { $0.append(line) } }, engines: engines)
        self.server = ServerUnderTest(server: server, demo: demo, folder: folder)
    }

    /// Another node of the same folder and database, as a start makes it.
    func restarted() async throws -> OutageStage {
        await server.server.stop(within: .zero)
        return try await OutageStage(server.demo, server.folder, database)
    }

    /// What the upkeep does in half a minute.
    func tick() async {
        await server.server.shared.engines.look(atLeastEvery: .zero)
        await server.server.lookAtEngines()
        await server.server.apply(.everything)
    }

    func end() async { await server.server.stop(within: .zero) }

    var log: String { lines.withLock { String(decoding: $0, as: UTF8.self) } }

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

/// A database for keys and audit that is away when told. The sessions are in an engine of their own.
final class SwitchedDatabase: KeyStore, AuditStore {
    let inner = MemorySealedKeyStore()
    let sessions = SwitchedRecords()
    private let entries = MemoryAuditStore()
    private let isDown = Locked(false)
    private let refusesKeys = Locked(false)
    private let refusesEntries = Locked(false)

    let engine = "switched"

    func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    /// Has new keys fail, and nothing else.
    func failAdditions(_ value: Bool) { refusesKeys.withLock { $0 = value } }

    /// Has the audit's entries fail, and nothing else.
    func failEntries(_ value: Bool) { refusesEntries.withLock { $0 = value } }

    /// - Throws: while it is away.
    func ask() throws(StoreError) {
        if isDown.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test took it away.") }
    }

    func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        try ask()
        if refusesKeys.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test takes no keys.") }
        return try await inner.add(rows)
    }

    func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        try ask()
        return try await inner.rows(kids, of: tenant)
    }

    func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try ask()
        return try await inner.page(of: tenant, search: search, after: cursor, limit: limit)
    }

    func count(of tenant: String) async throws(StoreError) -> Int {
        try ask()
        return try await inner.count(of: tenant)
    }

    func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try ask()
        return try await inner.reseal(rows)
    }

    func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow] {
        try ask()
        return try await inner.rows(of: tenant, sealedBefore: dataKey, limit: limit)
    }

    func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.setDisabled(isDisabled, kid, of: tenant)
    }

    func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try ask()
        return try await inner.seeds(of: tenant)
    }

    func add(seed: SealedKey) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.add(seed: seed)
    }

    func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        try ask()
        return try await inner.dataKeys()
    }

    func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.replace(held, by: row)
    }

    func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.remove(held)
    }

    func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try ask()
        return try await inner.fingerprint()
    }

    func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.put(dataKey, replacing: wrapper)
    }

    func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        try ask()
        if refusesEntries.withLock({ $0 }) {
            throw StoreError(.unavailable, engine, reason: "The test takes no entry.")
        }
        return try await entries.append(entry)
    }

    func last() async throws(StoreError) -> AuditEntry? {
        try ask()
        return try await entries.last()
    }

    func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try ask()
        return try await entries.entries(from: sequence, limit: limit)
    }
}

/// A store of sessions that is away when told.
final class SwitchedRecords: RecordStore {
    let inner = MemoryRecordStore()
    private let isDown = Locked(false)

    let engine = "switched"

    func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    private func ask() throws(StoreError) {
        if isDown.withLock(\.self) {
            throw StoreError(.unavailable, engine, reason: "The test took the sessions away.")
        }
    }

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        try ask()
        return try await inner.read(key)
    }

    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date
    ) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.write(record, at: key, replacing: replaced, until: end)
    }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.remove(key, version: version)
    }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        try ask()
        return try await inner.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
    }
}
