// Stores can be tested in debug builds only.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyTesting

    /// A test's own PgBouncer in front of a PostgreSQL: a socket in a separate folder, one role, and gone with the process that started it.
    final class PgBouncerProcess: Sendable {
        private static let program = "/usr/sbin/pgbouncer"
        static var isInstalled: Bool { EngineProcess.canRun(program) }

        private let folder: TemporaryFolder
        private let role: String
        private let process: EngineProcess

        /// Starts a pooler that keeps a connection for a session, and waits until it accepts connections.
        init(over server: PostgreSQLProcess, role: String) async throws {
            self.role = role
            folder = try TemporaryFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
            try folder.write("\"\(role)\" \"\(PostgreSQLProcess.password)\"\n", to: "users.txt")
            let file = try folder.write(
                """
                [databases]
                * = host=\(server.folder)
                [pgbouncer]
                listen_addr =
                listen_port = 5432
                unix_socket_dir = \(folder.url.path)
                unix_socket_mode = 0777
                auth_type = trust
                auth_file = \(folder.url.path)/users.txt
                admin_users = \(role)
                server_login_retry = 1

                """, to: "pgbouncer.ini")
            process = EngineProcess(Self.program, [file])
            try await process.says("process up")
        }

        /// The database's address for the role.
        func address(of database: String) -> String { "postgresql://\(role)@/\(database)?host=\(folder.url.path)" }

        /// Gives a connection to another session after each `transaction`, or keeps it for one `session`. All connections end, as with a restart.
        func pool(by mode: String, _ database: String) throws {
            // Its console does not support prepared statements.
            let psql = Subprocess()
            psql.executableURL = URL(filePath: "\(PostgreSQLProcess.programs ?? "")/psql")
            let commands = ["SET pool_mode = '\(mode)'", "KILL \(database)", "RESUME \(database)"]
            psql.arguments = ["-h", folder.url.path, "-U", role] + commands.flatMap { ["-c", $0] } + ["pgbouncer"]
            psql.standardOutput = FileHandle.nullDevice
            try psql.run()
            psql.waitUntilExit()
            guard psql.terminationStatus == 0 else {
                throw Diagnosis(code: "test", reason: "PgBouncer keeps its mode.", remedy: "See above.")
            }
        }
    }
#endif
