import LatchkeyHTTP
import Testing

/// Ambiguous heads and bodies of requests, which no server should guess about. Source: RFC 9112 §3.2, §6 and §7.
@Suite(.timeLimit(.minutes(5))) struct HTTPServerFramingTests {
    @Test(arguments: [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", 400), ("Host: b", 400),
        ("Content-Length: 3\r\nContent-Length: 4", 400), ("Content-Length: 3\r\nContent-Length: 3", 400),
        ("Content-Length: -1", 400), ("Content-Length: +3", 400), ("Content-Length: 3, 3", 400),
        ("Content-Length: 9223372036854775807", 413), ("Content-Length: 9223372036854775808", 413),
        ("Content-Length: 18446744073709551615", 413), ("Content-Length: 18446744073709551616", 413),
        ("Content-Length: 99999999999999999999999999", 413), ("Transfer-Encoding: gzip", 501),
        ("Transfer-Encoding: gzip, chunked", 501), ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Expect: a miracle\r\nContent-Length: 3", 417), ("Content-Length : 3", 400), ("X-Split: a\u{1}b", 400),
    ])
    func `an ambiguous head is refused and the connection ends`(
        _ fields: String, _ status: Int
    ) async throws {
        try await withServer(answering: { _ in .text("taken") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\nabc")
            let (text, ending) = await connection.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(!text.contains("taken"))
            #expect(ending != .silent)
        }
    }

    @Test(arguments: [
        ("/t%2fdemo", 400), ("/t/demo%2Fcertificate", 400), ("//t/demo", 400), ("/t//demo", 400),
        ("http://a/t//demo", 400), ("/t/demo//", 400), ("/t/demo/", 200), ("http://a/t/demo", 200),
        ("/t/%64emo?from=http://b%2fc", 200),
    ])
    func `a path that two servers could split differently is refused if configured`(
        _ target: String, _ status: Int
    ) async throws {
        for (isTaken, expected) in [(true, 200), (false, status)] {
            try await withServer({ $0.takesDoubtfulPaths = isTaken }, answering: { _ in .text("ok") }) { port in
                let connection = try RawConnection(port: port)
                connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 \(expected) "))
            }
        }
    }

    @Test(arguments: ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"])
    func `an unambiguous head is accepted`(_ rest: String) async throws {
        try await withServer(answering: { .text("\($0.body.count) bytes") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\n\(rest)")
            #expect(await connection.readReply().hasSuffix("3 bytes"))
        }
    }

    @Test(arguments: ["ffffffffffffffff", "fffffffffffffffff", "zz"])
    func `a chunk of impossible size gets a status`(_ size: String) async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { _ in .text("taken") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n")
            while connection.send(String(repeating: "x", count: 1_000)) {}
            let text = await connection.readToEnd().text
            #expect(["HTTP/1.1 413", "HTTP/1.1 400"].contains { text.hasPrefix($0) })
        }
    }

    @Test(arguments: [2_000, 8_000]) func `thousands of query items are answered`(_ count: Int) async throws {
        try await withServer(answering: { .text("\($0.queryItems.count) items") }) { port in
            let connection = try RawConnection(port: port)
            let query = String(repeating: "a&", count: count)
            connection.send("GET /?\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await connection.readReply().hasSuffix("\(count) items"))
        }
    }

    @Test func `thousands of cookies get a status`() async throws {
        try await withServer(answering: { _ in .text("taken") }) { port in
            let connection = try RawConnection(port: port)
            let cookies = String(repeating: "a=b; ", count: 4_000)
            connection.send("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 431"))
        }
    }

    @Test(arguments: [4_000_000, 5_000_000, 60_000_000])
    func `a body of many megabytes gets its 413`(_ count: Int) async throws {
        try await withServer(answering: { _ in .text("taken") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n")
            let megabyte = String(repeating: "x", count: 1_000_000)
            for _ in 0..<(count / 1_000_000) { connection.send(megabyte) }
            #expect(await connection.readReply().hasPrefix("HTTP/1.1 413"))
        }
    }
}
