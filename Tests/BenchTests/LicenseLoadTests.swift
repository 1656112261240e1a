import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServices
import Testing

@testable import LatchkeyBench

@Suite(.timeLimit(.minutes(5))) struct LicenseLoadTests {
    @Test func `every request to the service gets a license`() async throws {
        let service = try LicenseService(KeyServerBench(bits: 1024))
        let load = LicenseLoad(port: service.port, requests: service.requests, connections: 3)
        let outcome = try await load.run(seconds: 0)
        await service.host.stop()
        #expect(outcome.pieces > 0)
        #expect(try #require(outcome.p99) > 0)
        // Requests that are under way when the time is over are not counted.
        #expect(outcome.pieces <= service.host.requestCount)
    }

    /// A load of a server that answers every request the same way.
    private func load(_ server: HTTPServer) throws -> LicenseLoad {
        LicenseLoad(port: try server.start(), requests: [HTTPRequest(method: .get, target: "/").bytes(to: "h")])
    }

    @Test(arguments: [(403, "no", "status 403"), (503, "no", "status 503"), (200, "", "a license is empty")])
    func `a reply without a license ends the run`(_ status: Int, _ body: String, _ reason: String) async throws {
        let server = HTTPServer { _ in .text(body, status: status) }
        let load = try load(server)
        await #expect { try await load.run(seconds: 10) } throws: {
            ($0 as? Diagnosis)?.reason.contains(reason) == true
        }
        await server.stop()
    }

    @Test func `a busy server's refusal is not a license, and is retried on request`() async throws {
        let server = HTTPServer { _ in .text("no", status: 503) }
        var load = try load(server)
        load.comesAgain = true
        let outcome = try await load.run(seconds: 0)
        #expect(outcome.pieces == 0 && outcome.p99 == nil)
        await server.stop()
    }

    @Test func `a dead server is an error`() async throws {
        let server = HTTPServer { _ in .text("") }
        let port = try server.start()
        await server.stop()
        await #expect(throws: Diagnosis.self) { try await LicenseLoad(port: port, requests: [[0]]).run(seconds: 10) }
    }

    @Test func `the bound counts the operations of all threads`() async throws {
        let outcome = try await RSABound(bench: KeyServerBench(bits: 1024), threads: 2).run(seconds: 0)
        #expect(outcome.pieces == 128)
        #expect(outcome.processTime > 0)
    }
}
