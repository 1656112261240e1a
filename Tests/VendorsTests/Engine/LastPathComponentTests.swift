import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyVendors

/// The rule `lastPathComponent` compared with `NSURL.lastPathComponent`, which the JW Player document's code calls.
///
/// Source: `Documentation/Vendors/VuDRM.md`, `Documentation/Migration/JWPlayerVuDRM.md`.
@Suite struct LastPathComponentTests {
    /// Behind `skd://h.example`, all accepted by `NSURL(string:)`.
    static let ends = [
        "/movie-1", "/movie-1?x=1", "/movie-1#f", "/my%20movie", "/movie-1/", "/movie-1//", "/a%2Fb", "/a%2Fb/",
        "/a%2F",
        "/a/b/c", "/a?x=b/c", "/a#b/c", "/a?", "/a#", "/a?b#c/d", "/gr%C3%B6%C3%9Fe", "/a;b=1;c", "/;id", "/id:iv",
        "/a+b", "/a%2Bb", "/a%3Fb", "/a%23b", "/a%252Fb", "/~a", "/..", "/.", "/a/..", "/%20", "/a%20", "/%00",
        "/a%2fb?c%2Fd", "/MTIz+4/5=", "/A%41", "//a", "/a/%2F", "/a[b]", "/a!$&'()*,=", "/a@b",
    ]

    @Test(arguments: ends)
    func `gives what NSURL gives`(end: String) throws {
        for front in ["skd://h.example", "skd://user:pw@h.example:8443", "SKD://H.example", "https://h.example"] {
            let url = try #require(NSURL(string: front + end))
            #expect(RuleContext(keyURI: KeyURI(front + end)).text(.lastPathComponent) == url.lastPathComponent)
            #expect(KeyURI(front + end).lastPathComponent == url.lastPathComponent)
        }
    }

    /// For these `NSURL` returns an empty text or a slash, or it refuses the text.
    @Test(arguments: [
        "skd://h.example", "skd://h.example/", "skd://h.example//", "skd://h.example?x=a/b", "skd://", "skd:", "",
        "skd://h.example/%2F", "skd://h.example/a%FFb", "skd://id:iv",
    ])
    func `gives nothing for an unnamed path`(uri: String) {
        #expect(RuleContext(keyURI: KeyURI(uri)).text(.lastPathComponent) == nil)
    }

    /// `NSURL` refuses these on Linux, and encodes them first on newer Apple systems, with this result.
    @Test(arguments: [
        ("skd://h.example/a b", "a b"), ("skd://h.example/100%", "100%"), ("skd://h.example/%zz", "%zz"),
        ("skd://h.example/%+1", "%+1"), ("skd://h.example/größe", "größe"), ("skd://h.example/a|b", "a|b"),
        ("skd:movie-1", "movie-1"), ("skd:a/b?c", "b"), ("movie-1", "movie-1"), ("a/b/", "b"),
    ])
    func `reads texts that break URL rules`(uri: String, component: String) {
        #expect(RuleContext(keyURI: KeyURI(uri)).text(.lastPathComponent) == component)
    }

    @Test(
        arguments: [
            ("skd:https://ees.example/x?cid=1", "https://ees.example/x?cid=1"),
            ("skd://https://ees.example", "https://ees.example"),
            ("skd:http://127.0.0.1:8/x", "http://127.0.0.1:8/x"), ("SKD:HTTPS://E.example", "HTTPS://E.example"),
            ("skd://h.example/https://x", "https://h.example/https://x"), ("data:text/plain,https://x", nil),
        ] as [(String, String?)])
    func `an address behind skd stays one address`(uri: String, address: String?) {
        #expect(RuleContext(keyURI: KeyURI(uri)).text(.httpsURI) == address)
    }
}
