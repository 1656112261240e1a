import Foundation
import LatchkeyTransport
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerExamples
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The license server as a Swift program embeds it, by its public API.
@Suite(.timeLimit(.minutes(2))) struct EmbeddedServerTests {
    @Test func `the example serves until its task is cancelled`() async throws {
        let folder = try ServerFolder()
        try await folder.makeTenants()
        let addresses = Promise<ServerAddresses, any Error>()
        let serving = Task {
            try await serveLicenses(configuration: folder.file("server.json")) {
                addresses.resolve(.success($0))
            }
        }
        let url = try #require(URL(string: try await addresses.value.operators.url + "/readyz"))
        let reply = try await SystemTransport().send(URLRequest(url: url), bodyLimit: 1 << 16)
        #expect(reply.status == 200)
        serving.cancel()
        try await serving.value
        await #expect(throws: (any Error).self) {
            try await SystemTransport().send(URLRequest(url: url), bodyLimit: 1 << 16)
        }
    }

    @Test func `a program's own session store replaces the configured one`()
        async throws
    {
        // Nothing listens there.
        let folder = try ServerFolder(["stores.sessions": "redis://127.0.0.1:9"])
        try await folder.makeTenants()
        let (store, started) = (DictionaryStore(), Promise<LicenseServer, any Error>())
        let serving = Task {
            try await serveLicenses(configuration: folder.file("server.json"), sessions: store) {
                started.resolve(.success($0))
            }
        }
        let test = TestServer(folder, try await started.value)
        try await test.importKeys(1...1)
        let license = try await test.license(1, token: test.token("viewer-1"))
        #expect(license.status == 200, "\(license.text)")
        #expect(
            try await store.page(of: .account, "demo", prefix: "", after: nil, limit: 10).map(\.name) == ["viewer-1"])
        serving.cancel()
        try await serving.value
    }

    @Test func `a program's own key and audit stores are used, sealed and monitored`() async throws {
        let folder = try ServerFolder(["stores.keys": "memory", "stores.audit": nil])
        let (url, database) = (folder.file("server.json"), SwitchedDatabase())
        let stores = ServerStores(keys: database, audit: database)
        let lost = await #expect(throws: ServerProblems.self) {
            try await LicenseServer(configuration: url, stores: stores)
        }
        #expect(lost?.lines.contains { $0.contains("LicenseServer.createTenant") } == true, "\(lost?.lines ?? [])")
        #expect(try await database.inner.seeds(of: "demo").isEmpty)
        let wrong = await #expect(throws: Diagnosis.self) {
            try await LicenseServer.createTenant("dmeo", configuration: url, stores: stores)
        }
        #expect(wrong?.reason.contains("“demo”") == true)
        #expect(try await LicenseServer.createTenant("demo", configuration: url, stores: stores))
        #expect(try await !LicenseServer.createTenant("demo", configuration: url, stores: stores))
        // A second start opens the data that the first one sealed.
        for number in 1...2 {
            let server = try await LicenseServer(configuration: url, stores: stores)
            let test = TestServer(folder, server)
            try await test.importKeys([number])
            #expect(try await test.license(1).status == 200)
            #expect(try await database.inner.rows([TestServer.keyID(number)], of: "demo").count == 1)
            #expect(try await database.last()?.text.contains("keyImported") == true)
            database.setDown(true)
            await server.shared.engines.look(atLeastEvery: .zero)
            #expect(server.shared.engines.keys.isAway && server.shared.engines.auditGuard.health.isAway)
            database.setDown(false)
            await server.shared.engines.look(atLeastEvery: .zero)
            #expect(!server.shared.engines.keys.isAway && !server.shared.engines.auditGuard.health.isAway)
            await server.stop(within: .zero)
        }
    }

    @Test func `an invalid configuration reports all its problems`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(#"{"version": 1, "tenants": {"a b": {}}}"#, to: "server.json")
        let error = await #expect(throws: JSONProblems.self) {
            try await LicenseServer(configuration: URL(filePath: file))
        }
        #expect(error?.reason.contains("tenants") == true)
    }

    @Test func `a decision needs no server`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(
            #"{"version": 1, "name": "closed", "validity": {"type": "lease", "lease": "5m"}}"#, to: "closed.json")
        let facts = Data(#"{"now": "2026-11-22T15:00:00Z"}"#.utf8)
        let decision = try LicenseDecision(policy: "closed", in: folder.url, facts: facts)
        #expect(decision.isLicense, "\(decision.explanation)")
        let error = #expect(throws: FileError.self) {
            try LicenseDecision(policy: "open", in: folder.url, facts: facts)
        }
        #expect(error?.reason.contains("open.json") == true)
        let nowhere = folder.url.appending(path: "nowhere")
        let missing = #expect(throws: JSONProblems.self) {
            try LicenseDecision(policy: "open", in: nowhere, facts: facts)
        }
        #expect(missing?.reason.contains(nowhere.path) == true)
    }
}
