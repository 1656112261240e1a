import BuiltLibrary
import Foundation
import LatchkeyDevice
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// A server whose CKCs a licensee's module makes, here the stand-in in its own processes.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canRunModule, "there is no C compiler or no latchkey-server"))
struct ModuleServerTests {
    private func module(_ more: [String: JSONValue] = [:]) throws -> JSONValue {
        let members: [String: JSONValue] = [
            "library": .text(try BuiltLibrary.module([])), "program": .text(try #require(BuiltLibrary.server)),
            "credentials": "credentials",
        ]
        return .object(members.merging(more) { $1 })
    }

    @Test func `a server whose module alone has credentials is ready and serves licenses`() async throws {
        let stage = try await TestServer(["licensee.credentials": [], "licensee.module": module()])
        #expect(stage.server.current.notices.contains { $0.text.contains("module, version stand-in 1.") })
        let certificate = try await stage.player("certificate")
        #expect(certificate.status == 404 && certificate.text.contains("certificateMissing"))
        let (reply, exchange) = try await stage.license()
        #expect(try exchange.open(reply.body).contentKey.key.count == 16)
        // One to learn the asset, one to make the CKC.
        #expect(try await stage.metric(#"latchkey_module_requests_total{tenant="",outcome="ckc"}"#) == 2)
        #expect(stage.server.shared.readiness(stage.server.current).report.isReady)
    }

    @Test func `a reload starts or ends the use of a module`() async throws {
        let stage = try await TestServer()
        try await stage.reload(["licensee.module": module()])
        let version = "module, version stand-in 1."
        #expect(await stage.lines(version).count == 1)
        try await stage.reload([:])
        #expect(await stage.lines(version).count == 1, "It is news once.")
        let (reply, exchange) = try await stage.license()
        #expect(try exchange.open(reply.body).contentKey.key.count == 16)
        #expect(try await stage.metric(#"latchkey_module_requests_total{tenant="",outcome="ckc"}"#) == 1)
        try await stage.reload(["licensee.module": nil])
        #expect(try await stage.license().0.status == 200)
        #expect(try await stage.metric(#"latchkey_module_requests_total{tenant="",outcome="ckc"}"#) == 1)
    }

    @Test func `a tenant's module has its own notice, and counters that a monitor reads before the first failure`()
        async throws
    {
        let licensee: JSONValue = ["credentials": [], "module": try module()]
        let stage = try await TestServer(["tenants.demo.licensee": licensee])
        let notice = "tenants.demo.licensee: CKCs are made by the licensee's module, version stand-in 1."
        #expect(stage.server.current.notices.contains { $0.text == notice })
        #expect(try await stage.metric(#"latchkey_module_requests_total{tenant="demo",outcome="crashed"}"#) == 0)
        #expect(try await stage.metric(#"latchkey_module_restarts_total{tenant="demo"}"#) == 0)
        #expect(try await stage.license().0.status == 200)
        #expect(try await stage.metric(#"latchkey_module_requests_total{tenant="demo",outcome="ckc"}"#) == 2)
        #expect(try await stage.metric(#"latchkey_module_restarts_total{tenant=""}"#) == nil)
    }

    @Test(arguments: [("skd://movie/1", true), ("skd://other/1", false)])
    func `a check runs the self-test, and names the module's version`(_ assetID: String, _ passes: Bool) async throws {
        let folder = try ServerFolder()
        var generator = SystemRandomNumberGenerator()
        let spc = try SimulatedDevice(directory: URL(filePath: folder.credentials))
            .exchange(for: "skd://movie/1", using: &generator).spc
        try spc.revealed.write(to: folder.file("test.spc"))
        let test: JSONValue = ["spc": "test.spc", "assetID": .text(assetID)]
        try folder.edit(["licensee.module": module(["selfTest": test])])
        try await folder.makeTenants()
        let run = await ToolRun("run", "--config", folder.configuration, "--check")
        #expect((run.status == .yes) == passes, "\(run.error)")
        #expect(run.error.contains(passes ? "version stand-in 1." : "licensee.module.selfTest: "))
    }
}
