import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyTesting

@testable import LatchkeyStores

/// A Redis of the tests' own: no network, a socket in a temporary folder, no file, and gone with the process that started it.
final class RedisProcess: Sendable {
    private static let program = "/usr/bin/redis-server"
    static var isInstalled: Bool {
        [program, "/usr/bin/setpriv"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// One for all tests that need no own, started when the first one needs it.
    static let shared = Task { try await RedisProcess() }

    let address: RedisAddress
    let path: String
    private let process: Locked<Process>

    /// Starts a server, and waits until it takes connections.
    /// - Parameters:
    ///   - path: its socket. Defaults to a new one.
    ///   - arguments: further settings.
    init(path: String = "/tmp/lk-redis-\(UUID().uuidString.prefix(8)).sock", _ arguments: [String] = []) async throws {
        self.path = path
        address = try RedisAddress(Secret("redis+unix:\(path)"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        let settings = [
            "--port", "0", "--unixsocket", path, "--unixsocketperm", "777", "--save", "", "--appendonly", "no", "--dir",
            "/tmp",
        ]
        let user = geteuid() == 0 ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
        process.arguments = ["--pdeathsig", "KILL"] + user + [Self.program] + settings + arguments
        let output = Pipe()
        process.standardOutput = output
        let ready = Promise<Void, any Error>()
        self.process = Locked(process)
        // The server dies with the thread that started it, so that thread waits for its end.
        let server = self.process
        Thread.detachNewThread {
            do { try server.withLock { try $0.run() } } catch { ready.resolve(.failure(error)) }
            var text = ""
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
                if text.contains("Ready to accept") || text.contains("ready to accept") { ready.resolve(.success(())) }
            }
            ready.resolve(.failure(StoreError.redis("The server ended: \(text)")))
        }
        try await ready.value
    }

    deinit { stop() }

    /// Ends the server at once, as a crash does.
    func stop() {
        process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
        unlink(path)
    }

    /// A store with patience for a busy machine.
    func store(replicas: RedisRecordStore.Replicas? = nil, limit: Duration = .seconds(30)) throws -> RedisRecordStore {
        try RedisRecordStore(address, replicas: replicas, limit: limit)
    }

    /// An empty store.
    func emptyStore() async throws -> RedisRecordStore {
        _ = try await client().send([["FLUSHALL"].map { Array($0.utf8) }])
        return try store()
    }

    func client() throws -> RedisClient {
        try RedisClient(address, limit: .seconds(30), timekeeper: SystemTimekeeper())
    }
}
