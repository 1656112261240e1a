import Foundation
import LatchkeyHTTP
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct FileResponseTests {
    @Test(arguments: [
        (nil, 200, "0123456789", nil), ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"), ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=-99", 206, "0123456789", "bytes 0-9/10"), ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
        ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
        ("bytes=0-1,3-4", 200, "0123456789", nil), ("bytes=4-2", 200, "0123456789", nil),
        ("bytes=x-y", 200, "0123456789", nil), ("lines=1-2", 200, "0123456789", nil),
        ("bytes=99999999999999999999-", 200, "0123456789", nil), ("bytes=5", 200, "0123456789", nil),
    ])
    func `a range of a file`(_ range: String?, _ status: Int, _ body: String, _ contentRange: String?) async throws {
        let file = try temporaryFile("0123456789")
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await withServer(answering: { .file(file, contentType: "video/mp4", for: $0) }) { port in
            let reply = try await fetch(port, "/") { $0.setValue(range, forHTTPHeaderField: "Range") }
            #expect(reply.status == status)
            #expect(reply.body == Data(body.utf8))
            #expect(reply.headers["content-range"] == contentRange)
            #expect(reply.headers["content-type"] == "video/mp4")
            #expect(reply.headers["accept-ranges"] == "bytes")
        }
    }

    @Test func `HEAD of a file states its size`() async throws {
        let file = try temporaryFile("0123456789")
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await withServer(answering: { .file(file, contentType: "video/mp4", for: $0) }) { port in
            let reply = try await fetch(port, "/") { $0.httpMethod = "HEAD" }
            #expect(reply.headers["content-length"] == "10")
            #expect(reply.body.isEmpty)
        }
    }

    @Test(arguments: ["/nowhere/at/all", "/"])
    func `only a regular file is found`(_ path: String) {
        let request = HTTPRequest(method: "GET", target: "/")
        #expect(HTTPResponse.file(path, contentType: "video/mp4", for: request).status == 404)
    }

    @Test func `a file that shrinks before it is sent is an error, not a crash`() async throws {
        let file = try temporaryFile("short")
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await withServer(answering: { _ in
            HTTPResponse(status: 200, body: .file(path: file, offset: 3, count: 3))
        }) { port in
            let status = try await fetch(port, "/").status
            #expect(status == 500)
        }
    }

    private func temporaryFile(_ text: String) throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(text.utf8).write(to: url)
        return url.path
    }
}
