// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem

    @testable import LatchkeyStores

    /// A separate PostgreSQL for tests: no network, a socket in a short path, a password; it ends with the process that started it.
    final class PostgreSQLProcess: Sendable {
        static let password = "hunter2 is%secret"
        /// One for all tests, started when the first one needs it.
        static let shared = Task { try await PostgreSQLProcess() }

        /// The folder of the programs; `nil` if they are not installed.
        static let programs: String? = {
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
            let debian = versions.sorted().reversed().map { "/usr/lib/postgresql/\($0)/bin" }
            let path = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
            return (debian + path).first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
        }()

        let folder: String
        private let running = Locked<Run?>(nil)
        private let databases = Locked(0)

        /// - Parameter place: the folder in which it creates its own. Its path must be short, as for every socket.
        init(in place: String = FileManager.default.temporaryDirectory.path) async throws {
            folder = "\(place)/lk-pg-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try Data(Self.password.utf8).write(to: URL(filePath: "\(folder)/password"))
            try await start()
        }

        deinit { running.withLock { $0 }?.end(keeping: false) }

        /// Starts the server, and waits until it accepts connections.
        func start() async throws {
            let run = try Run(folder: folder, programs: Self.programs ?? "")
            try await run.ready.value
            running.withLock { $0 = run }
        }

        /// Stops the server immediately, as a crash does, and keeps its data.
        func stop() async throws {
            let run = running.withLock { run in
                defer { run = nil }
                return run
            }
            run?.end(keeping: true)
            try await run?.ended.value
        }

        /// Stops the server's processes where they are, as a disk that hangs does, or resumes them.
        func hang(_ isHanging: Bool) throws {
            let file = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
            guard let main = file.split(separator: "\n").first.flatMap({ Int32($0) }) else { return }
            let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
            for process in all where process == main || Self.parent(of: process) == main {
                kill(process, isHanging ? SIGSTOP : SIGCONT)
            }
        }

        /// The fourth field of a process's state, behind its name in parentheses.
        private static func parent(of process: Int32) -> Int32? {
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return nil }
            let fields = text[text.index(after: end)...].split(separator: " ")
            return fields.count > 1 ? Int32(fields[1]) : nil
        }

        /// - Parameter passwordFile: has the password, which is then not in the address. Defaults to none.
        func address(of database: String, role: String = "latchkey", passwordFile: String? = nil) -> Secret {
            let escaped = Self.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let word = passwordFile == nil ? ":\(escaped)" : ""
            let file = passwordFile.map { "&passfile=\($0)" } ?? ""
            return Secret("postgresql://\(role)\(word)@/\(database)?host=\(folder)\(file)")
        }

        /// Starts the server again as a standby without a primary, or as a primary.
        func restart(asStandby isStandby: Bool) async throws {
            let signal = "\(folder)/data/standby.signal"
            if isStandby { try await query("CHECKPOINT", in: "postgres") }
            try await stop()
            if isStandby {
                try Data().write(to: URL(filePath: signal))
            } else {
                try FileManager.default.removeItem(atPath: signal)
            }
            try await start()
        }

        /// A new database.
        func database() async throws -> String {
            let name = databases.withLock { number in
                number += 1
                return "latchkey_\(number)"
            }
            try await query("CREATE DATABASE \(name)", in: "postgres")
            return name
        }

        /// Runs a statement as the owner of everything.
        @discardableResult
        func query(_ sql: String, in database: String) async throws -> [PostgreSQLRow] {
            let settings = PostgreSQLLane.Setup(
                // A busy machine is slow.
                hosts: try PostgreSQLHosts(Secret(address(of: database).revealedText + "&connect_timeout=60")),
                isDurable: false, statementLimit: .seconds(60))
            let pool = try PostgreSQLPool(settings, count: 1, name: "query")
            defer { pool.close() }
            return try await pool.run(PostgreSQLCall("query", sql), within: .seconds(60)).rows
        }

        /// Starts work, and returns once a statement in the database waits for a lock, or the work is done.
        func untilBlocked<Value: Sendable>(
            in database: String, _ work: @escaping @Sendable () async throws -> Value
        ) async throws -> Task<Value, any Error> {
            let isDone = Locked(false)
            let task = Task {
                defer { isDone.withLock { $0 = true } }
                return try await work()
            }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            while try await query(waiting, in: database).first?.integer(0) == 0, !isDone.withLock({ $0 }) {
                await Task.yield()
            }
            return task
        }
    }

    extension PostgreSQLProcess {
        /// The server's process, with a shell above it that ends it when this process closes its end of a pipe, however that comes.
        private final class Run: Sendable {
            let ready = Promise<Void, any Error>()
            let ended = Promise<Void, any Error>()
            private let input: FileHandle

            init(folder: String, programs: String) throws {
                let process = Subprocess()
                process.executableURL = URL(filePath: "/bin/sh")
                process.arguments = ["-c", script, "sh", folder, programs]
                let input = Pipe()
                let output = Pipe()
                process.standardInput = input
                process.standardOutput = output
                process.standardError = output
                self.input = input.fileHandleForWriting
                let (ready, ended) = (ready, ended)
                try process.run()
                let reader = output.fileHandleForReading
                Thread.detachNewThread {
                    var log = ""
                    while true {
                        let bytes = reader.availableData
                        if bytes.isEmpty { break }
                        log = String((log + String(decoding: bytes, as: UTF8.self)).suffix(4_096))
                        // A standby's are read-only.
                        if log.contains(/ready to accept (read-only )?connections/) { ready.resolve(.success(())) }
                    }
                    ready.resolve(
                        .failure(
                            Diagnosis(code: "test", reason: "PostgreSQL did not start: \(log)", remedy: "See above.")))
                    ended.resolve(.success(()))
                }
            }

            func end(keeping isKept: Bool) {
                try? input.write(contentsOf: Data("\(isKept ? "keep" : "remove")\n".utf8))
                try? input.close()
            }
        }

        /// The process as which initdb agrees to run: not root.
        private static let script = """
            folder=$1 programs=$2
            cd "$folder" || exit 1
            set --
            if [ "$(id -u)" = 0 ]; then
                user=nobody; id postgres >/dev/null 2>&1 && user=postgres
                chown -R "$user" "$folder"
                set -- setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups
            fi
            if [ ! -d data ]; then
                "$@" "$programs/initdb" -D data -U latchkey --pwfile password -A scram-sha-256 -E UTF8 --locale=C --no-sync \\
                    >initdb.log 2>&1 || { cat initdb.log; rm -rf "$folder"; exit 1; }
            fi
            "$@" "$programs/postgres" -D "$folder/data" -c listen_addresses= -c "unix_socket_directories=$folder" -c fsync=off \\
                -c max_connections=600 -c shared_buffers=256MB -c max_wal_size=4GB 2>&1 &
            server=$!
            read -r word
            kill -QUIT $server
            wait $server
            [ "$word" = keep ] || rm -rf "$folder"
            """
    }

    extension PostgreSQLStore.Settings {
        /// Limits that a busy machine keeps.
        static var patient: Self {
            var settings = Self()
            (settings.recordLimit, settings.readLimit, settings.keyLimit) = (.seconds(60), .seconds(60), .seconds(60))
            (settings.pageLimit, settings.openLimit) = (.seconds(60), .seconds(60))
            return settings
        }
    }
#endif
