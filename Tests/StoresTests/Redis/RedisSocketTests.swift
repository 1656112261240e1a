import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem
import LatchkeyTesting
import TLSPeer
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// A connection whose other end is slow, or ends it.
@Suite(.timeLimit(.minutes(1))) struct RedisSocketTests {
    @Test func `answers that arrive with the end of a TLS connection are read first`() async throws {
        let identity = try SelfSigned()
        let server = try TLSAnswer("+ONE\r\n+TWO\r\n+THR", as: identity)
        let socket = try RedisSocket(
            .host("localhost", port: server.port), within: .seconds(30),
            trusting: TLSTrust(authorities: identity.certificate))
        let command = RedisCommand(["PING"]).bytes
        #expect(try socket.send(command[...]) == command.count)
        try await server.sent()
        func next() throws -> RESPValue {
            while true {
                if let answer = try socket.answer() { return answer }
                try socket.receive()
            }
        }
        #expect(try next() == .status("ONE"))
        #expect(try next() == .status("TWO"))
        let error = #expect(throws: StoreError.self) { try next() }
        #expect(error?.reason == "Redis closed the connection.")
        #expect(throws: StoreError.self) { try socket.receive() }
    }

    /// A server that, once it has received something, sends a byte a second by a test's clock, and never finishes.
    private func trickle(_ bytes: [UInt8], _ clock: ManualTimekeeper) throws -> UInt16 {
        let (listener, port) = try DelayingRelay.listen()
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            // By then the time has begun.
            _ = recv(client, &buffer, buffer.count, 0)
            for byte in bytes {
                clock.advance(by: .seconds(1))
                _ = send(client, [byte], 1, Int32(MSG_NOSIGNAL))
            }
            // Until the other end gives up.
            while recv(client, &buffer, buffer.count, 0) > 0 {}
            close(client)
            close(listener)
        }
        return port
    }

    // By the machine's clock it would wait until after the suite's limit.
    @Test func `a whole TLS handshake has one time limit`() throws {
        let clock = ManualTimekeeper()
        // The start of a record of 16,000 bytes.
        let port = try trickle([0x16, 3, 3, 0x3e, 0x80] + [UInt8](repeating: 2, count: 95), clock)
        let trust = try TLSTrust(authorities: SelfSigned().certificate)
        let error = #expect(throws: StoreError.self) {
            try RedisSocket(
                .host("127.0.0.1", port: port), within: .seconds(90), trusting: trust, timekeeper: clock)
        }
        #expect(error?.kind == .unavailable && error?.reason == "Redis does not respond over TLS.")
    }

    @Test func `a question has one time limit for its answer`() throws {
        let clock = ManualTimekeeper()
        let port = try trickle([UInt8](repeating: UInt8(ascii: "+"), count: 100), clock)
        let socket = try RedisSocket(.host("127.0.0.1", port: port), within: .seconds(90), timekeeper: clock)
        let error = #expect(throws: StoreError.self) { try socket.ask(["PING"], within: .seconds(90)) }
        #expect(error?.kind == .unavailable && error?.reason == "Redis does not answer.")
    }
}
