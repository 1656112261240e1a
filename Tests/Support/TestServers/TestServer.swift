#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyForms
    import LatchkeyLicensing
    import LatchkeyTesting
    import SwitchedStores

    @testable import LatchkeyServer
    @testable import LatchkeyServerTool
    @testable import LatchkeyStores
    @testable import StoreProcesses

    /// A running license server in its own folder: the only way in which tests start one. It stops when it is no longer referenced.
    final class TestServer: Sendable {
        let folder: ServerFolder
        let server: LicenseServer
        let time: any Timekeeper
        /// The database in which a server of `switched` has its keys, its audit and its sessions.
        let database: SwitchedDatabase
        private let written: Locked<Data>
        private let writer: LineWriter

        /// - Parameters:
        ///   - changes: changes the configuration.
        ///   - policy: changes the tenant's policy.
        ///   - prepare: puts more into the configuration's folder.
        ///   - threads: the threads on which the server reads files. Defaults to its usual ones.
        ///   - time: the server's clock. Defaults to the machine's.
        convenience init(
            _ changes: [String: JSONValue?] = [:], policy: [String: JSONValue?] = [:],
            prepare: (ServerFolder) throws -> Void = { _ in }, threads: FileThreads = FileThreads(),
            time: any Timekeeper = SystemTimekeeper()
        ) async throws {
            let folder = try ServerFolder(changes)
            if !policy.isEmpty { try folder.edit(policy, in: "policies/demo.json") }
            try prepare(folder)
            try await self.init(folder, threads: threads, time: time)
        }

        /// A server of an existing folder, or another one of it.
        /// - Parameters:
        ///   - limits: PostgreSQL's limits. Defaults to patient ones, because one late answer is an outage.
        ///   - database: the database behind the engines, if they are a test's.
        ///   - engines: opens the engines. Defaults to the configured ones.
        init(
            _ folder: ServerFolder, threads: FileThreads = FileThreads(), time: any Timekeeper = SystemTimekeeper(),
            limits: PostgreSQLStore.Settings = .patient, database: SwitchedDatabase? = nil,
            engines: (ConfigurationFile) async throws -> ServerEngines? = { _ in nil }
        ) async throws {
            let written = Locked(Data())
            (self.folder, self.time, self.written) = (folder, time, written)
            self.database = database ?? SwitchedDatabase()
            writer = LineWriter { line in written.withLock { $0.append(line) } }
            if database == nil { try await folder.makeTenants() }
            let file = try ConfigurationFile(folder.configuration, threads: threads)
            var opened = try await engines(file)
            if opened == nil { opened = try await .open(file, limits: limits, timekeeper: time) }
            server = try await LicenseServer(file, lines: writer, engines: opened, timekeeper: time)
        }

        /// A server that a test has started through the code under test.
        init(_ folder: ServerFolder, _ server: LicenseServer) {
            (self.folder, self.server, time, database) = (folder, server, server.shared.timekeeper, SwitchedDatabase())
            (written, writer) = (Locked(Data()), LineWriter { _ in })
        }

        // The task ends with the stop, which waits for no request.
        deinit {
            Task { [server, folder] in
                await server.stop(within: .zero)
                withExtendedLifetime(folder) {}
            }
        }

        var root: TemporaryFolder { folder.root }

        func stop(within limit: Duration = .seconds(10)) async { await server.stop(within: limit) }

        /// All lines that were logged until now.
        var log: String {
            get async {
                await writer.flush()
                return written.withLock { String(decoding: $0, as: UTF8.self) }
            }
        }

        /// The lines of the log that have all of some texts.
        func lines(_ texts: String...) async -> [String] {
            await log.replacing("\\/", with: "/").split(separator: "\n").map(String.init).filter { line in
                texts.allSatisfy { line.contains($0) }
            }
        }

        /// Changes the configuration, and makes the server read it.
        /// - Returns: the changes that wait for a restart.
        @discardableResult
        func reload(_ changes: [String: JSONValue?]) async throws -> [String] {
            try folder.edit(changes)
            return try await server.reload()
        }
    }
#endif
