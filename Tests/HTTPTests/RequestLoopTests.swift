import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyHTTP

@Suite(.timeLimit(.minutes(1))) struct RequestLoopTests {
    @Test func `requests use as many connections as allowed, each reply for its request`() async throws {
        let server = HTTPServer { request in
            .text("\(request.path) \(request.headers["A"] ?? "") \(request.body.count)")
        }
        let port = try server.start()
        let replies = try await Promise<[String], any Error>.value { done in
            Thread.detachNewThread {
                let loop = RequestLoop(host: "localhost", port: Int(port), connections: 2)
                var replies: [String] = []
                for number in 0..<5 {
                    let request = HTTPRequest(
                        method: .post, target: "/\(number)?q", headers: ["A": "b"], body: Data(count: number))
                    loop.send(request.bytes(to: "h"), within: .seconds(30)) {
                        replies.append(String(decoding: (try? $0.get())?.bytes ?? Data(), as: UTF8.self))
                    }
                }
                while loop.isBusy { loop.step() }
                done.resolve(.success(replies))
            }
        }
        await server.stop()
        #expect(replies.sorted() == (0..<5).map { "/\($0) b \($0)" })
    }

    @Test func `an expired request is not sent, and one to a closed port fails`() throws {
        let loop = RequestLoop(host: "127.0.0.1", port: 1, connections: 1)
        var causes: [String] = []
        for limit in [Duration.zero, .seconds(30)] {
            loop.send([0], within: limit) { outcome in
                if case .failure(let error) = outcome { causes.append(error.reason) }
            }
        }
        while loop.isBusy { loop.step() }
        #expect(causes == ["timeout", "connection refused"])
    }
}

@Suite struct ReplyHeadTests {
    private static let whole = Array(
        "HTTP/1.1 503 Busy\r\nRetry-After: 4\r\ncontent-length: 3\r\nConnection: Close\r\n\r\nabc".utf8)

    private func head(_ bytes: some Sequence<UInt8>) throws -> (ReplyHead, count: Int)? {
        var scan = HeadScan()
        return try ReplyHead.found(in: Array(bytes), by: &scan, most: 1_000)
    }

    @Test func `a head is whole at its last byte, and not before`() throws {
        let bytes = Self.whole
        for count in 0..<bytes.count - 3 { #expect(try head(bytes.prefix(count)) == nil) }
        let (head, end) = try #require(try head(bytes))
        #expect(head.status == 503 && head.bodyLength == 3 && bytes[end...].elementsEqual("abc".utf8))
        #expect(head.headers[.retryAfter] == "4" && !head.keepsConnection)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\r\n", "SSH-2.0 x y\r\n\r\n", "HTTP/1.1 9999 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
    ])
    func `a reply that is not HTTP, or has a missing or wrong length, is refused`(text: String) {
        #expect(throws: TransportError.self) { try head(text.utf8) }
    }

    @Test func `a reply without content needs no length`() throws {
        #expect(try head("HTTP/1.1 204 None\r\n\r\n".utf8)?.0.status == 204)
    }
}
