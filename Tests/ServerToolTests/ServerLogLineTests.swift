import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Events other than players' requests have lines in the log, with the facts that an operator looks for.
@Suite(.timeLimit(.minutes(1))) struct ServerLogLineTests {
    @Test func `a failing audit is logged for packagers and operators`() async throws {
        let stage = try await TestServer.switched()
        stage.database.failEntries(true)
        #expect(try await stage.packager("cpix?content=film").status == 503)
        #expect(await stage.lines(#""event":"packager""#, "The test takes no entry.").count == 1)
        let kid = TestServer.kid(1)
        #expect(try await stage.admin("tenants/demo/keys/\(kid)", "DELETE").status == 503)
        #expect(await stage.lines(#""event":"admin""#, "The test takes no entry.").count == 1)
    }

    @Test func `an operator's request is logged by name and outcome`() async throws {
        let stage = try await TestServer.switched()
        _ = try await stage.admin("overview", key: TestServer.key(.viewer))
        _ = try await stage.admin("overview", key: "wrong")
        #expect(await stage.lines(#""event":"admin""#, "By viewer-1.", #""status":200"#).count == 1)
        let refused = await stage.lines(#""event":"admin""#, #""status":401"#)
        #expect(refused.count == 1 && refused.allSatisfy { !$0.contains("By ") })
    }

    @Test func `a reload is logged, and a failed one with why`() async throws {
        let stage = try await TestServer.switched()
        try await stage.server.reload()
        #expect(await stage.lines(#""level":"info""#, "The configuration was reloaded.").count == 1)
        try stage.folder.write("{", to: "server.json")
        await #expect(throws: (any Error).self) { try await stage.server.reload() }
        let failed = await stage.lines(#""level":"error""#, #""event":"configuration""#, #""reason":""#)
        #expect(failed.count == 1)
    }

    @Test func `a key that fails to open during a refresh is logged with its tenant`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        let row = try #require(try await stage.database.inner.rows([TestServer.keyID(1)], of: "demo").first)
        var damaged = row
        damaged.sealed.sealed[0] ^= 1
        #expect(try await stage.database.inner.replace(row.sealed, by: damaged))
        await stage.server.apply(.everything)
        let told = await stage.lines(#""event":"outage""#, #""tenant":"demo""#, #""level":"error""#)
        #expect(told.count == 1)
        // The previous state counts.
        #expect(try await stage.license(1).status == 200)
    }

    @Test func `a forgotten change is logged`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        let disable = "tenants/demo/keys/\(TestServer.kid(1))/disable"
        #expect(try await stage.admin(disable, "POST").status == 202)
        // Meanwhile another node has removed the key.
        let row = try #require(try await stage.database.inner.rows([TestServer.keyID(1)], of: "demo").first)
        #expect(try await stage.database.inner.remove(row.sealed))
        stage.database.setDown(false)
        await stage.tick()
        #expect(await stage.lines(#""event":"outage""#, #""reason":"keyUnknown""#).count == 1)
        #expect(try await stage.metric("latchkey_pending_changes") == 0)
    }
}
