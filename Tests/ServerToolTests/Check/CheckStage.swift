import Foundation
import LatchkeyFairPlay
import LatchkeyServer

@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeySystem
@testable import StoreProcesses
@testable import TestServers

/// A sound configuration over a real PostgreSQL and a real Redis, to be broken.
final class CheckStage {
    let folder: ServerFolder
    let database: String
    let server: PostgreSQLProcess
    let address: String
    let redis: RedisProcess

    /// A Redis of this stage alone.
    private(set) var redisProcess: RedisProcess?
    /// The address of that Redis.
    private(set) var redisPort: UInt16 = 0
    /// A replica of that Redis.
    var replica: RedisProcess?
    /// A file system that this stage has something on.
    private(set) var disk: SmallDisk?
    /// The pooler between a node and its PostgreSQL.
    private(set) var pooler: PgBouncerProcess?
    /// The address of that Redis for a user; empty without one.
    private(set) var sessions = ""
    private var kept: [AnyObject] = []

    static var isInstalled: Bool { PostgreSQLProcess.programs != nil && RedisProcess.isInstalled }

    /// - Parameter server: the PostgreSQL. Defaults to the one shared by tests.
    init(over server: PostgreSQLProcess? = nil) async throws {
        folder = try ServerFolder()
        if let server { self.server = server } else { self.server = try await PostgreSQLProcess.shared.value }
        let server = self.server
        redis = try await RedisProcess.shared.value
        database = try await server.database()
        let address = server.address(of: database).revealedText
        self.address = address
        let fingerprint = try await Stores.migrate(StoreAddress(address))
        try await server.query("GRANT SELECT ON ALL TABLES IN SCHEMA latchkey TO PUBLIC", in: database)
        try folder.edit([
            "stores.sessions": "redis+unix:\(redis.path)", "stores.keys": .text(address),
            "stores.audit": .text(address),
            "stores.copy": "sqlite:copy.db", "stores.fingerprint": fingerprint.map { .text("\($0)") },
        ])
        // It contains the password of PostgreSQL.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.configuration)
        let file = try await ConfigurationFile.read(folder.configuration)
        try await KeySealing.with(file) { _ = try await $0.create("demo") }
        for name in ["copy.db", "copy.db-wal", "copy.db-shm"] {
            try? FileManager.default.removeItem(at: folder.file(name))
        }
    }

    /// Names another store.
    func store(_ name: String, _ address: String) throws { try folder.edit(["stores.\(name)": .text(address)]) }

    func secret(_ text: String, to name: String) throws {
        try? FileManager.default.removeItem(at: folder.file(name))
        try folder.write(secret: text, to: name)
    }

    /// Starts a Redis of this stage alone on loopback.
    /// - Parameter port: the port. Defaults to a free one.
    /// - Returns: its port.
    @discardableResult
    func ownRedis(_ arguments: String..., at port: UInt16? = nil) async throws -> UInt16 {
        let port = try port ?? UnusedPort.any()
        var arguments = arguments
        // Its program wants the two words of an address apart.
        if arguments.first == "--replicaof" {
            arguments = [arguments[0]] + arguments[1].split(separator: " ").map(String.init)
        }
        let process = try await RedisProcess(port: port, arguments)
        (redisProcess, redisPort) = (process, port)
        keep(process)
        return port
    }

    /// Starts a Redis of this stage alone that is to be a node of a cluster.
    func ownNode() async throws -> UInt16 {
        let folder = try TemporaryFolder()
        keep(folder)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
        return try await ownRedis(
            "--cluster-enabled", "yes", "--dir", folder.url.path, "--cluster-port", "\(UnusedPort.any())")
    }

    /// Uses a separate Redis for this stage, with a user who has some rights.
    func redisUser(_ rights: String...) async throws { try await redisUser(rights: rights) }

    func redisUser(rights: [String]) async throws {
        let port = try await ownRedis()
        let words = ["ACL", "SETUSER", "node", "on", ">hunter2", "resetkeys"] + rights
        if case .error(let text) = try redisProcess?.answer(to: words) { throw StoreError(redis: text) }
        sessions = "redis://node:hunter2@127.0.0.1:\(port)"
        try store("sessions", sessions)
    }

    /// Gives the tenant a callout that answers every request with a status.
    func callout(answering status: String) throws {
        let service = try LoopbackServer { _, _ in .send("HTTP/1.0 \(status)\r\nContent-Length: 0\r\n\r\n") }
        keep(service)
        try callout(at: service.port)
    }

    func callout(at port: UInt16) throws {
        try folder.edit(["tenants.demo.callout.url": "http://127.0.0.1:\(port)/ask"])
    }

    /// With a PostgreSQL on its own file system.
    convenience init(on disk: SmallDisk) async throws {
        try await self.init(over: PostgreSQLProcess(in: disk.path))
        self.disk = disk
    }

    /// Makes a file system on which something can be put.
    func makeDisk(megabytes: Int) throws -> String {
        let disk = try SmallDisk(megabytes: megabytes)
        self.disk = disk
        return disk.path
    }

    /// Puts a pooler between a node's role and its PostgreSQL.
    func pool(_ role: String) async throws {
        let pooler = try await PgBouncerProcess(over: server, role: role)
        self.pooler = pooler
        for store in ["keys", "audit"] { try self.store(store, pooler.address(of: database)) }
    }

    /// Keeps an object that ends with its last reference.
    func keep(_ one: AnyObject) { kept.append(one) }

    /// The object of a type that was kept.
    func kept<Kept>(_: Kept.Type) -> Kept? { kept.lazy.compactMap { $0 as? Kept }.first }

    /// Releases the object that was kept last.
    func letGo() { kept.removeLast() }

    /// Every row of the database, by table.
    func rows() async throws -> [String] {
        let sql = """
            SELECT table_name || ': ' || query_to_xml('SELECT t::text FROM latchkey.' || table_name || ' t ORDER BY 1',
                true, false, '')::text FROM information_schema.tables WHERE table_schema = 'latchkey' ORDER BY 1
            """
        let rows = try await server.query(sql, in: database)
        return try rows.map { String(decoding: try $0.bytes(0), as: UTF8.self) }
    }

    /// The configuration's folder with everything in it.
    func files() throws -> FolderFacts { try FolderFacts(folder.url) }

    func check() async -> ToolRun { await ToolRun("run", "--check", "--config", folder.configuration) }
}
