package import Foundation

/// A request that a server has to refuse, with another one hidden behind it that must never be seen.
package struct RequestShape: Sendable, CustomStringConvertible {
    /// Its fault.
    package let name: String
    package let bytes: Data
    /// The status of the one reply.
    package let status: Int

    package var description: String { name }

    /// The text behind the request.
    private static let hidden = Data("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    /// The path of every shape.
    package static let path = "/shape"

    private init(_ name: String, _ status: Int, _ text: String, isWhole: Bool = false) {
        self.init(name, status, Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }), isWhole)
    }

    private init(_ name: String, _ status: Int, _ bytes: Data, _ isWhole: Bool) {
        (self.name, self.status) = (name, status)
        self.bytes = isWhole ? bytes : bytes + Self.hidden
    }

    /// A request with given fields, and the text after them.
    private static func post(_ name: String, _ status: Int, _ fields: String, _ rest: String = "abc") -> Self {
        Self(name, status, "POST \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(rest)")
    }

    /// A request with given chunks.
    private static func chunks(_ name: String, _ status: Int, _ text: String) -> Self {
        post(name, status, "Transfer-Encoding: chunked", text)
    }

    /// A request with a given line.
    private static func line(_ name: String, _ status: Int, _ line: String) -> Self {
        Self(name, status, "\(line)\r\nHost: a\r\n\r\n")
    }

    /// Source: RFC 9112 §2, §3, §5, §6 and §7; RFC 9110 §5.5, §8.6 and §10.1.1.
    package static let refused: [RequestShape] = lengths + codings + fields + lines + chunked + sizes

    private static let lengths = [
        post("length and coding", 400, "Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        post("coding and length", 400, "Transfer-Encoding: chunked\r\nContent-Length: 100", "0\r\n\r\n"),
        post("two lengths", 400, "Content-Length: 3\r\nContent-Length: 0"),
        post("the same length twice", 400, "Content-Length: 3\r\nContent-Length: 3"),
        post("a list of lengths", 400, "Content-Length: 3, 3"), post("a length below zero", 400, "Content-Length: -1"),
        post("a length with a sign", 400, "Content-Length: +3"),
        post("a hexadecimal length", 400, "Content-Length: 0x3"),
        post("a length with a letter", 400, "Content-Length: 3x"), post("an empty length", 400, "Content-Length:"),
        post("a blank in a length", 400, "Content-Length: 1 3"),
        post("digits of Arabic", 400, "Content-Length: \u{d9}\u{a3}"),
        post("NUL in a length", 400, "Content-Length: 3\09"), post("NUL behind a length", 400, "Content-Length: 3\0"),
        post("a folded length", 400, "Content-Length:\r\n 3"),
        post("a folded second length", 400, "Content-Length: 4\r\n 3"),
        post("a length folded by a tab", 400, "Content-Length:\r\n\t3"),
        post("a blank before the colon of a length", 400, "Content-Length : 3"),
        post("a length of 2^63", 413, "Content-Length: 9223372036854775808", ""),
        post("a length of 2^64-1", 413, "Content-Length: 18446744073709551615", ""),
        post("a length of 2^64+3", 413, "Content-Length: 18446744073709551619"),
        post("a length of 26 digits", 413, "Content-Length: 99999999999999999999999999"),
    ]

    private static let codings = [
        post("a blank before the colon of a coding", 400, "Transfer-Encoding : chunked", "0\r\n\r\n"),
        post("xchunked", 501, "Transfer-Encoding: xchunked", "0\r\n\r\n"),
        post("chunked, identity", 501, "Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
        post("gzip, chunked", 501, "Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        post("identity", 501, "Transfer-Encoding: identity", ""),
        post("an empty coding", 501, "Transfer-Encoding:", ""),
        post("a quoted coding", 501, "Transfer-Encoding: \"chunked\"", "0\r\n\r\n"),
        post("two codings", 400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        post("a vertical tab before a coding", 400, "Transfer-Encoding: \u{b}chunked", "0\r\n\r\n"),
        post("NUL in a coding", 400, "Transfer-Encoding: chunked\0x", "0\r\n\r\n"),
        post("a folded coding", 400, "Transfer-Encoding:\r\n chunked", "0\r\n\r\n"),
        Self(
            "chunks in HTTP/1.0", 400,
            "POST \(path) HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        post("an expectation of a miracle", 417, "Expect: a miracle\r\nContent-Length: 3"),
    ]

    private static let fields = [
        post("two hosts", 400, "Host: b\r\nContent-Length: 0", ""),
        post("two Authorizations", 400, "Authorization: Bearer a\r\nauthorization: Bearer b\r\nContent-Length: 0", ""),
        Self("no host", 400, "POST \(path) HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
        Self("two hosts in one", 400, "POST \(path) HTTP/1.1\r\nHost: a,b\r\nContent-Length: 0\r\n\r\n"),
        Self("a blank in the host", 400, "POST \(path) HTTP/1.1\r\nHost: a b\r\nContent-Length: 0\r\n\r\n"),
        Self("a path in the host", 400, "POST \(path) HTTP/1.1\r\nHost: a/b\r\nContent-Length: 0\r\n\r\n"),
        Self("NUL in the host", 400, "POST \(path) HTTP/1.1\r\nHost: a\0b\r\nContent-Length: 0\r\n\r\n"),
        post("NUL in a value", 400, "X: a\0b\r\nContent-Length: 0", ""),
        post("NUL in a name", 400, "X\0: a\r\nContent-Length: 0", ""),
        post("a control character in a value", 400, "X: a\u{1}b\r\nContent-Length: 0", ""),
        post("DEL in a value", 400, "X: a\u{7f}b\r\nContent-Length: 0", ""),
        post("a bare CR in a value", 400, "X: a\rContent-Length: 3\r\nContent-Length: 0", ""),
        post("a bare LF in a value", 400, "X: a\nContent-Length: 3\r\nContent-Length: 0", ""),
        post("NUL before a bare LF", 400, "X: a\0\nContent-Length: 0", ""),
        post("a folded field", 400, "X: a\r\n b\r\nContent-Length: 0", ""),
        post("a blank in a name", 400, "X Y: a\r\nContent-Length: 0", ""),
        post("a bracket in a name", 400, "X(Y): a\r\nContent-Length: 0", ""),
        post("no name", 400, ": a\r\nContent-Length: 0", ""), post("no colon", 400, "X\r\nContent-Length: 0", ""),
        Self("a blank before the first field", 400, "POST \(path) HTTP/1.1\r\n Host: a\r\nContent-Length: 0\r\n\r\n"),
        Self("lines that end with LF alone", 400, "POST \(path) HTTP/1.1\nHost: a\nContent-Length: 3\n\nabc"),
    ]

    private static let lines = [
        line("NUL in the target", 400, "GET \(path)\0/x HTTP/1.1"), line("no version", 400, "GET \(path)"),
        line("no target", 400, "GET HTTP/1.1"), line("two blanks", 400, "GET  \(path) HTTP/1.1"),
        line("a blank in the target", 400, "GET \(path) x HTTP/1.1"),
        line("a tab for a blank", 400, "GET\t\(path) HTTP/1.1"),
        line("a blank behind the version", 400, "GET \(path) HTTP/1.1 "),
        line("a target that is no path", 400, "GET shape HTTP/1.1"),
        line("another scheme", 400, "GET ftp://a/ HTTP/1.1"),
        line("a method with a bracket", 400, "GE[T \(path) HTTP/1.1"),
        line("HTTP/2.0", 505, "GET \(path) HTTP/2.0"), line("HTTP/1.11", 505, "GET \(path) HTTP/1.11"),
        line("http/1.1", 400, "GET \(path) http/1.1"), line("a blank before the method", 400, " GET \(path) HTTP/1.1"),
        Self("the preface of HTTP/2", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Self("three empty lines", 400, "\r\n\r\n\r\nGET \(path) HTTP/1.1\r\nHost: a\r\n\r\n"),
        Self("a TLS hello", 400, Data([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]) + Data(count: 500), true),
    ]

    private static let chunked = [
        chunks("a chunk of size zz", 400, "zz\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of no size", 400, "\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of 2^64+3", 400, "10000000000000003\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of 2^64-1", 413, "ffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of 2^63", 413, "8000000000000000\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk below zero", 400, "-3\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of 0x3", 400, "0x3\r\nabc\r\n0\r\n\r\n"),
        chunks("a chunk of +3", 400, "+3\r\nabc\r\n0\r\n\r\n"),
        chunks("a blank before a size", 400, " 3\r\nabc\r\n0\r\n\r\n"),
        chunks("a blank behind a size", 400, "3 \r\nabc\r\n0\r\n\r\n"),
        chunks("NUL in a size", 400, "3\0\r\nabc\r\n0\r\n\r\n"),
        chunks("no line end behind a chunk", 400, "3\r\nabc0\r\n\r\n"),
        chunks("a chunk that is longer", 400, "3\r\nabcd\r\n0\r\n\r\n"),
        chunks("chunks that end with LF", 400, "3\nabc\n0\n\n"),
        chunks("an extension that ends with LF", 400, "3;a\nabc\r\n0\r\n\r\n"),
        chunks("a bare CR in an extension", 400, "3;a\rb\r\nabc\r\n0\r\n\r\n"),
        chunks("a folded trailer", 400, "0\r\nX: a\r\n b\r\n\r\n"),
        chunks("a trailer without a name", 400, "0\r\nabc\r\n\r\n"),
        chunks("NUL in a trailer", 400, "0\r\nX: \0\r\n\r\n"),
    ]

    private static let sizes = [
        chunks("10,000 chunks of a byte", 400, String(repeating: "1\r\na\r\n", count: 10_000) + "0\r\n\r\n"),
        chunks(
            "600 chunks with long extensions", 400,
            String(repeating: "1;" + String(repeating: "e", count: 200) + "\r\na\r\n", count: 600) + "0\r\n\r\n"),
        chunks(
            "an extension of a megabyte", 400, "3;" + String(repeating: "a", count: 1_000_000) + "\r\nabc\r\n0\r\n\r\n"),
        chunks("trailers of a megabyte", 431, "0\r\n" + String(repeating: "a: b\r\n", count: 170_000) + "\r\n"),
        post("a field of 100 kB", 431, "X: " + String(repeating: "a", count: 100_000) + "\r\nContent-Length: 0", ""),
        post("10,000 fields", 431, String(repeating: "a:b\r\n", count: 10_000) + "Content-Length: 0", ""),
        post("300 fields", 431, String(repeating: "a:b\r\n", count: 300) + "Content-Length: 0", ""),
        line("a target of a megabyte", 431, "GET /" + String(repeating: "a", count: 1_000_000) + " HTTP/1.1"),
        post("a length of a terabyte", 413, "Content-Length: 1000000000000"),
        post("a length that asks before", 413, "Expect: 100-continue\r\nContent-Length: 5000000", ""),
    ]
}
