import Foundation
import LatchkeyCore
import LatchkeyServer
import Testing

@testable import LatchkeyServerTool

/// What happens beside players' requests has its line in the log, with what an operator looks for.
@Suite(.timeLimit(.minutes(1))) struct ServerLogLineTests {
    /// The lines that have all of some texts.
    private static func lines(_ log: String, _ texts: String...) -> [Substring] {
        log.replacing("\\/", with: "/").split(separator: "\n").filter { line in texts.allSatisfy { line.contains($0) } }
    }

    @Test func `an audit that takes nothing is told for packagers and for operators`() async throws {
        let stage = try await OutageStage()
        stage.database.failEntries(true)
        #expect(try await stage.server.packager("cpix?content=film").status == 503)
        let kid = ServerUnderTest.kid(1)
        #expect(try await stage.server.admin("tenants/demo/keys/\(kid)", "DELETE").status == 503)
        await stage.end()
        for event in ["packager", "admin"] {
            let told = Self.lines(stage.log, #""event":"\#(event)""#, "The test takes no entry.")
            #expect(told.count == 1, "\(stage.log)")
        }
    }

    @Test func `an operator's request is told with name and outcome`() async throws {
        let stage = try await OutageStage()
        _ = try await stage.server.admin("overview", key: ServerUnderTest.key(.viewer))
        _ = try await stage.server.admin("overview", key: "wrong")
        await stage.end()
        #expect(Self.lines(stage.log, #""event":"admin""#, "By viewer-1.", #""status":200"#).count == 1, "\(stage.log)")
        let refused = Self.lines(stage.log, #""event":"admin""#, #""status":401"#)
        #expect(refused.count == 1 && refused.allSatisfy { !$0.contains("By ") }, "\(stage.log)")
    }

    @Test func `a reload is told, and one that fails with why`() async throws {
        let stage = try await OutageStage()
        try await stage.server.server.reload()
        try Data("{".utf8).write(to: URL(filePath: stage.server.demo.configuration))
        await #expect(throws: (any Error).self) { try await stage.server.server.reload() }
        await stage.end()
        #expect(Self.lines(stage.log, #""level":"info""#, "The configuration was read again.").count == 1)
        let failed = Self.lines(stage.log, #""level":"error""#, #""event":"configuration""#, #""reason":""#)
        #expect(failed.count == 1, "\(stage.log)")
    }

    @Test func `a key that cannot be opened when keys are read again is told with its tenant`() async throws {
        let stage = try await OutageStage()
        #expect(try await stage.license(1).status == 200)
        let row = try #require(try await stage.database.inner.rows([OutageStage.kid(1)], of: "demo").first)
        var damaged = row
        damaged.sealed.sealed[0] ^= 1
        #expect(try await stage.database.inner.replace(row.sealed, by: damaged))
        await stage.server.server.apply(.everything)
        // What was known before counts.
        #expect(try await stage.license(1).status == 200)
        await stage.end()
        let told = Self.lines(stage.log, #""event":"outage""#, #""tenant":"demo""#, #""level":"error""#)
        #expect(told.count == 1, "\(stage.log)")
    }

    @Test func `a store that tells no changes, and a change that it does not know any more, are told`() async throws {
        let stage = try await OutageStage()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        let following = Task { [server = stage.server.server] in await server.followKeys() }
        // The engines' own lines say that they do not answer.
        while Self.lines(stage.log, #""event":"outage""#, "The test took it away.").allSatisfy({
            $0.contains("does not answer")
        }) {
            try Task.checkCancellation()
            await Task.yield()
        }
        following.cancel()
        await following.value
        let disable = "tenants/demo/keys/\(ServerUnderTest.kid(1))/disable"
        #expect(try await stage.server.admin(disable, "POST").status == 202)
        // Meanwhile another node has removed the key.
        let row = try #require(try await stage.database.inner.rows([OutageStage.kid(1)], of: "demo").first)
        #expect(try await stage.database.inner.remove(row.sealed))
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.metric("latchkey_pending_changes") == 0)
        await stage.end()
        #expect(Self.lines(stage.log, #""event":"outage""#, #""reason":"keyUnknown""#).count == 1, "\(stage.log)")
    }
}
