import Foundation
import LatchkeyCore
import Testing

@Suite struct KeyURITests {
    struct Cut: Sendable, CustomTestStringConvertible {
        let raw: String
        let scheme: String?
        let remainder: String
        let host: String
        let path: [String]
        var testDescription: String { raw }
    }

    @Test(arguments: [
        Cut(raw: "skd://asset-a", scheme: "skd", remainder: "asset-a", host: "asset-a", path: []),
        Cut(raw: "skd:asset-a", scheme: "skd", remainder: "asset-a", host: "asset-a", path: []),
        Cut(raw: "SKD://Host/A/b", scheme: "SKD", remainder: "Host/A/b", host: "Host", path: ["A", "b"]),
        Cut(raw: "skd://h//a/", scheme: "skd", remainder: "h//a/", host: "h", path: ["a"]),
        Cut(raw: "skd:///a", scheme: "skd", remainder: "/a", host: "", path: ["a"]),
        Cut(raw: "skd://", scheme: "skd", remainder: "", host: "", path: []),
        Cut(raw: "", scheme: nil, remainder: "", host: "", path: []),
        Cut(raw: "skd://id:iv", scheme: "skd", remainder: "id:iv", host: "id:iv", path: []),
        Cut(raw: "id:iv", scheme: nil, remainder: "id:iv", host: "id:iv", path: []),
        Cut(raw: "skd://a;b=c d%20e", scheme: "skd", remainder: "a;b=c d%20e", host: "a;b=c d%20e", path: []),
        Cut(raw: "skd://oLHC0+T1Bh==", scheme: "skd", remainder: "oLHC0+T1Bh==", host: "oLHC0+T1Bh==", path: []),
        Cut(raw: "https://x/k?a#b", scheme: "https", remainder: "x/k?a#b", host: "x", path: ["k"]),
        Cut(raw: "data:;base64,AA//", scheme: "data", remainder: ";base64,AA//", host: ";base64,AA", path: []),
        Cut(raw: "keys/1.bin", scheme: nil, remainder: "keys/1.bin", host: "keys", path: ["1.bin"]),
        Cut(raw: "://x", scheme: nil, remainder: "://x", host: ":", path: ["x"]),
    ])
    func `the parts are cut from the text as it is`(cut: Cut) {
        let uri = KeyURI(cut.raw)
        #expect(uri.raw == cut.raw)
        #expect(uri.scheme == cut.scheme)
        #expect(uri.remainder == cut.remainder)
        #expect(uri.host == cut.host)
        #expect(uri.pathComponents == cut.path)
    }

    @Test(arguments: ["skd://a\n", "skd://a\r\n", "skd://a\n\n\r\n"])
    func `trailing line ends are cut`(raw: String) {
        #expect(KeyURI(raw).raw == "skd://a")
    }

    @Test(arguments: [" skd://a", "skd://a ", "skd://a\t"])
    func `white space is kept`(raw: String) {
        #expect(KeyURI(raw).raw == raw)
    }

    @Test func `query items keep order, duplicates and escapes`() {
        let items = KeyURI("skd://h/p?b=1&a=%20x&b=2&flag&&=e&c=1=2").queryItems
        #expect(items.map(\.name) == ["b", "a", "b", "flag", "", "c"])
        #expect(items.map(\.value) == ["1", "%20x", "2", nil, "e", "1=2"])
    }

    @Test func `a query value is the first of its name in any case`() {
        let uri = KeyURI("skd://h?KID=1&kid=2&empty=&flag")
        #expect(uri.queryValue("kid") == "1")
        #expect(uri.queryValue("empty") == "")
        #expect(uri.queryValue("flag") == nil)
        #expect(uri.queryValue("other") == nil)
    }

    @Test func `the first and the last question mark part the text differently`() {
        let uri = KeyURI("skd://h/p?a=1?b=2")
        #expect(uri.remainderBeforeQuery == "h/p")
        #expect(uri.query == "a=1?b=2")
        #expect(uri.afterLastQuestionMark == "b=2")
        #expect(KeyURI("skd://h").query == nil)
        #expect(KeyURI("skd://h?").afterLastQuestionMark == "")
    }

    @Test func `a path never reaches into the query`() {
        #expect(KeyURI("skd://h/a?x=/b/c").pathComponents == ["a"])
        #expect(KeyURI("skd://h?x=/b").host == "h")
    }

    @Test(arguments: ["skd://a/b?c", "SKD:a/b?c", "a/b?c"])
    func `the scheme is replaced once`(raw: String) {
        #expect(KeyURI(raw).replacingScheme(with: "https") == "https://a/b?c")
    }

    @Test func `it is written to JSON as its text`() throws {
        let uri: KeyURI = "skd://host/a?b"
        let json = try JSONEncoder().encode([uri])
        #expect(try JSONDecoder().decode([String].self, from: json) == ["skd://host/a?b"])
        #expect(try JSONDecoder().decode([KeyURI].self, from: json) == [uri])
    }
}
