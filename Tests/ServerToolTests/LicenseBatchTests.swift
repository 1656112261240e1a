import BuiltLibrary
import Foundation
import LatchkeyDevice
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// A server that opens several licenses in one batch.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canBuild, "there is no C compiler"))
struct LicenseBatchTests {
    /// A server whose limits no burst reaches.
    private func stage(_ more: [String: JSONValue?]) async throws -> TestServer {
        try await TestServer(more.merging(["threads": 1, "limits.perAddress": 0]) { $1 })
    }

    private func log(_ stage: TestServer) async -> [String] {
        stage.server.announce()
        await stage.stop()
        return await stage.lines("crypto_mb")
    }

    /// Requests licenses concurrently until several were opened together; each has to be right.
    private func burst(_ stage: TestServer) async throws {
        let metrics = stage.server.shared.metrics
        while metrics.rsaBatches.value == 0 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let (reply, exchange) = try await stage.license(for: "viewer-\(number)")
                        // A busy machine refuses some.
                        if reply.status == 503 { return }
                        try #require(reply.status == 200, "\(reply.text)")
                        #expect(try exchange.open(reply.body).contentKey.key.count == 16)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(metrics.rsaBatchOperations.value >= 3 * metrics.rsaBatches.value)
    }

    @Test func `licenses that wait together are opened together and correctly`() async throws {
        let path = try BuiltLibrary.cryptoMB()
        let stage = try await stage(["cryptoMB": .text(path)])
        try await burst(stage)
        #expect(stage.server.shared.metrics.rsaBatchErrors.value == 0)
        let lines = await log(stage)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("licenses together: ") == true)
    }

    @Test func `no viewer gets a wrong result, and the operator reads about it`() async throws {
        let stage = try await stage(["cryptoMB": .text(BuiltLibrary.cryptoMB("WRONG_LANE=2"))])
        try await burst(stage)
        let metrics = stage.server.shared.metrics
        #expect(metrics.rsaBatchErrors.value == metrics.rsaBatches.value)
        let lines = await log(stage)
        #expect(lines.contains { $0.contains("crypto_mb computed 1 of ") && $0.contains(#""level":"error""#) })
    }

    @Test func `off logs nothing, and the default logs its result once`() async throws {
        let off = try await stage(["cryptoMB": "off"])
        #expect(off.server.shared.batches.opening == nil)
        #expect(await log(off).isEmpty)
        let usual = try await stage([:])
        let isThere = (try? CryptoMBLibrary()) != nil
        #expect((usual.server.shared.batches.opening != nil) == isThere)
        let lines = await log(usual)
        #expect(lines.count == 1)
        #expect(lines.first?.contains(isThere ? "together" : "without crypto_mb") == true)
        #expect(lines.first?.contains(#""level":"info""#) == true)
    }

    @Test(arguments: ["NO_DECRYPT", "APPLICABLE=0"])
    func `a named library that is unusable prevents the start`(macro: String) async throws {
        let path = try BuiltLibrary.cryptoMB(macro)
        let error = await #expect(throws: ServerProblems.self) { try await stage(["cryptoMB": .text(path)]) }
        #expect(error?.reason.hasPrefix("cryptoMB: The library \(path) cannot be used.") == true)
    }

    @Test func `a changed path needs a restart`() async throws {
        let stage = try await stage(["cryptoMB": "off"])
        #expect(try await stage.reload(["cryptoMB": nil]) == ["cryptoMB"])
    }
}
