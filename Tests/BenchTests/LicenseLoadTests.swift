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
        // Those that are under way when the time is over are not counted.
        #expect(outcome.pieces <= service.host.requestCount)
    }

    @Test func `what a busy server refuses is no license, and ends the run only of who does not come again`()
        async throws
    {
        let server = HTTPServer { _ in .text("no", status: 503) }
        var load = LicenseLoad(
            port: try server.start(), requests: [Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)], connections: 1)
        let patient = load
        await #expect(throws: Diagnosis.self) { try await patient.run(seconds: 10) }
        load.comesAgain = true
        let outcome = try await load.run(seconds: 0)
        #expect(outcome.pieces == 0 && outcome.p99 == nil)
        await server.stop()
    }

    @Test func `a refusal ends the run`() async throws {
        let server = HTTPServer { _ in .text("no", status: 403) }
        let load = LicenseLoad(port: try server.start(), requests: [Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)])
        await #expect { try await load.run(seconds: 10) } throws: {
            ($0 as? Diagnosis)?.reason.contains("status 403") == true
        }
        await server.stop()
    }

    @Test func `an empty license ends the run`() async throws {
        let server = HTTPServer { _ in .text("") }
        let load = LicenseLoad(port: try server.start(), requests: [Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)])
        await #expect(throws: Diagnosis.self) { try await load.run(seconds: 10) }
        await server.stop()
    }

    @Test func `nobody there is an error`() async throws {
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

@Suite struct ReplyHeadTests {
    @Test func `status, length and the body's place are found`() throws {
        let text = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 12\r\n\r\nbody"
        let head = try #require(ReplyHead(Array(text.utf8)))
        #expect(head.status == 200)
        #expect(head.bodyLength == 12)
        #expect(text.utf8.count - head.end == 4)
    }

    @Test func `a head that is cut anywhere is none`() {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n".utf8)
        #expect(bytes.indices.allSatisfy { ReplyHead(Array(bytes.prefix($0))) == nil })
    }

    @Test func `a head without a length is none`() {
        #expect(ReplyHead(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)) == nil)
    }
}
