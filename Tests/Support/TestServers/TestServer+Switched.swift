#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeySystem
    import LatchkeyForms
    import LatchkeyLicensing
    import LatchkeyStores
    import LatchkeyTesting
    import LatchkeyVault
    import SwitchedStores

    @testable import LatchkeyServer
    @testable import LatchkeyServerTool

    // Stores that can be taken down.
    extension TestServer {
        /// A server whose keys and audit are in a database that can be taken down, with its own copy on disk and three imported keys.
        /// - Parameters:
        ///   - derives: whether its tenant derives keys that no packager brought. Defaults to no.
        ///   - sessions: the store of sessions. Defaults to the database's own engine.
        ///   - time: the clock of server and stores.
        static func switched(
            _ changes: [String: JSONValue?] = [:], derives: Bool = false,
            sessions: (SwitchedDatabase) throws -> any RecordStore = { $0.sessions },
            time: any Timekeeper = SystemTimekeeper()
        ) async throws -> TestServer {
            let folder = try ServerFolder(changes)
            if !derives { try folder.edit(["tenants.demo.unlisted": nil]) }
            let database = SwitchedDatabase()
            try await TestServer.seal("demo", in: database, folder)
            let stage = try await TestServer(folder, time: time, over: database, sessions: sessions(database))
            try await stage.importKeys(1...3)
            return stage
        }

        /// Makes a tenant's keys in a database.
        static func seal(_ tenant: String, in keys: any KeyStore, _ folder: ServerFolder) async throws {
            let file = try ConfigurationFile(folder.configuration)
            guard let source = file.settings.keyEncryptionKey else { return }
            let wrapper = try KeyEncryptionKey(source, in: file.secrets)
            _ = try await TenantSecrets.create(tenant, in: keys, with: KeyEncryptionKeys(wrapper))
        }

        /// A server of a folder, over stores in place of the configured ones.
        /// - Parameters:
        ///   - audit: the audit's, if it goes down separately.
        ///   - asking: the clock of the store of keys. Defaults to the server's.
        ///   - hasCopy: whether the node has a copy of the keys on disk. Defaults to yes.
        convenience init(
            _ folder: ServerFolder, time: any Timekeeper = SystemTimekeeper(), over database: SwitchedDatabase,
            audit: SwitchedDatabase? = nil, sessions: any RecordStore, asking: (any Timekeeper)? = nil,
            hasCopy: Bool = true
        ) async throws {
            let audit = audit ?? database
            let copy = try hasCopy ? SQLiteNodeCopy(path: folder.root.path("copy.db")) : nil
            let pending: PendingChanges? = if let copy { try await PendingChanges.open(copy) } else { nil }
            let keys = try await GuardedKeyStore(
                database, health: EngineHealth("keyStore", engine: database.engine, timekeeper: asking ?? time),
                copy: copy, pending: pending, age: StoreAge.open(audit, copy: copy),
                question: { operation throws(StoreError) in
                    if operation == .read { database.questions.withLock { $0 += 1 } }
                    try database.ask()
                })
            await keys.probe()
            try await self.init(folder, time: time, database: database) { file in
                ServerEngines(
                    settings: file.settings.stores, sessions: sessions,
                    redirections: { database.redirections.withLock { $0 } },
                    keys: keys, audit: audit, auditProbe: { _ throws(StoreError) in try audit.ask() },
                    timekeeper: time, closing: { copy?.close() })
            }
        }

        /// A server that asks something else for its reports than its configuration names.
        convenience init(record source: RecordQueries.Source) async throws {
            try await self.init(ServerFolder()) { file in
                var engines = try await ServerEngines.open(file)
                engines.recordSource = source
                return engines
            }
        }

        /// Another node of the same folder and database, as after a start.
        func restarted() async throws -> TestServer {
            await stop()
            return try await TestServer(folder, time: time, over: database, sessions: database.sessions)
        }

        /// The server's scheduled work of half a minute.
        func tick() async {
            await server.shared.engines.look(atLeastEvery: .zero)
            await server.lookAtEngines()
            await server.apply(.everything)
        }

        /// The status of `/readyz`, and its word.
        func ready() async throws -> (Int, String) {
            await server.lookAtEngines()
            let reply = try await operators("readyz?verbose")
            return (reply.status, reply.json["status"]?.text ?? "")
        }
    }
#endif
