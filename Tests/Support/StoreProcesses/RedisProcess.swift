// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyTesting

    @testable import LatchkeyStores

    /// A separate Redis for tests: a socket in a temporary folder, loopback at most, no persistent file; it ends with the process that started it.
    final class RedisProcess: Sendable {
        private static let program = "/usr/bin/redis-server"
        static var isInstalled: Bool {
            EngineProcess.canRun(program)
        }

        /// One for all tests that do not need their own, started when the first one needs it.
        static let shared = Task { try await RedisProcess() }

        let address: RedisAddress
        let path: String
        private let process: EngineProcess

        /// Starts a server, and waits until it accepts connections.
        /// - Parameters:
        ///   - path: its socket. Defaults to a new one.
        ///   - port: an additional port on loopback. Defaults to 0, which means none.
        ///   - arguments: further settings.
        convenience init(
            path: String = "/tmp/lk-redis-\(UUID().uuidString.prefix(8)).sock", port: UInt16 = 0,
            _ arguments: [String] = []
        ) async throws {
            let settings = [
                "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", path, "--unixsocketperm", "777", "--save",
                "",
                "--appendonly", "no", "--dir", "/tmp", "--dbfilename", Self.copy(path).lastPathComponent,
            ]
            try await self.init(path: path, settings + arguments, ready: "eady to accept connections")
        }

        /// Starts a sentinel, and waits until it watches.
        /// - Parameter configuration: a file that it reads and writes, in a folder that it may write.
        convenience init(sentinel configuration: String) async throws {
            try await self.init(path: configuration, [configuration, "--sentinel"], ready: "+monitor master")
        }

        private init(path: String, _ arguments: [String], ready: String) async throws {
            self.path = path
            address = try RedisAddress(Secret("redis+unix:\(path)"))
            process = EngineProcess(Self.program, arguments)
            try await process.says(ready)
        }

        deinit { stop() }

        /// Waits until the server has printed a text.
        /// - Throws: `StoreError` if it ends before.
        func says(_ text: String) async throws { try await process.says(text) }

        /// Ends the server immediately, as a crash does.
        func stop() {
            process.signal(SIGKILL)
            for file in [path, Self.copy(path).path] { unlink(file) }
        }

        /// Lets the server hang: connections stay, and nothing is answered.
        func pause() { process.signal(SIGSTOP) }

        /// Resumes the server after `pause`.
        func resume() { process.signal(SIGCONT) }

        /// How often a command was run, for clients and in scripts.
        func calls(of command: String) throws -> Int {
            let lines = (try self.command("INFO", "commandstats").text ?? "").split(whereSeparator: \.isNewline)
            let line = lines.first { $0.hasPrefix("cmdstat_\(command):calls=") }
            return line?.split(separator: "=").dropFirst().first.flatMap { Int($0.prefix { $0 != "," }) } ?? 0
        }

        /// The file in which a replica keeps the data of its primary.
        private static func copy(_ path: String) -> URL { URL(filePath: path).appendingPathExtension("rdb") }

        /// A store with patience for a busy machine.
        func store(replicas: RedisRecordStore.Replicas? = nil, limit: Duration = .seconds(30)) throws
            -> RedisRecordStore
        {
            try RedisRecordStore(address, replicas: replicas, limit: limit)
        }

        /// Sends a command.
        /// - Throws: `StoreError`, also for an error that Redis answers.
        @discardableResult
        func command(_ words: String...) throws -> RESPValue {
            let answer = try answer(to: words)
            if case .error(let text) = answer { throw StoreError(redis: text) }
            return answer
        }

        /// Its answer to a command.
        func answer(to words: [String]) throws -> RESPValue {
            try RedisSocket(.path(path), within: .seconds(30)).ask(words, within: .seconds(30))
        }
    }
#endif
