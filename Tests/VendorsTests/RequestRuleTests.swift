import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite struct URLRuleTests {
    private func url(_ base: TextRule, _ changes: [URLRule.Change]) throws -> String {
        let context = RuleContext(
            keyURI: "skd://key.example/k?KID=a%2Fb&iv=1&empty",
            settings: ["s": "x y", "o": "https://other.example:8443/z"])
        return try URLRule(base, changes).url(context, for: "license URL").absoluteString
    }

    @Test(
        arguments: [
            ("https://h/p?a=1#f", [], "https://h/p?a=1"), ("https://h/p?a=1&b=2", [.stripQuery], "https://h/p"),
            ("https://h/p?", [], "https://h/p?"), ("https://h/p?a&&b", [], "https://h/p?a&&b"),
            ("https://h/p", [.setQuery(name: "q", value: .setting("s"))], "https://h/p?q=x%20y"),
            ("https://h/p?", [.setQuery(name: "q", value: "1")], "https://h/p?q=1"),
            ("https://h/p?Q=1&b=2&q=3", [.setQuery(name: "q", value: "9")], "https://h/p?q=9&b=2"),
            ("https://h/p#f", [.setQuery(name: "q", value: "1")], "https://h/p?q=1"),
            ("https://h/p?a=1", [.setQuery(name: "q", value: .setting("none"))], "https://h/p?a=1"),
            ("https://h/p?Q=1", [.addQueryIfAbsent(name: "q", value: "9")], "https://h/p?Q=1"),
            ("https://h/p?x=1", [.addQueryIfAbsent(name: "q", value: "9")], "https://h/p?x=1&q=9"),
            ("https://h/p", [.copyKeyURIQuery(names: ["kid", "IV", "empty", "no"])], "https://h/p?kid=a%2Fb&IV=1"),
            ("https://h/p?x=1", [.appendPath(.fixed("a/b c"))], "https://h/p/a%2Fb%20c?x=1"),
            ("https://h", [.appendPath("a"), .appendPath("b")], "https://h/a/b"),
            ("https://h/p?x=1", [.useOrigin(.setting("o"))], "https://other.example:8443/p?x=1"),
            ("https://h/%41%20 |", [], "https://h/%41%20%20%7C"),
            ("https://h/p?x=%41 []", [], "https://h/p?x=%41%20%5B%5D"),
        ] as [(TextRule, [URLRule.Change], String)])
    func `changes only the text of an URL`(base: TextRule, changes: [URLRule.Change], expected: String)
        throws
    {
        #expect(try url(base, changes) == expected)
    }

    @Test(arguments: ["", "no url", "ftp://h/p", "https://", "https:///p", "//h/p", "file:///etc"])
    func `accepts only http and https URLs`(text: String) {
        #expect(throws: IntegrationError.self) { try url(.fixed(text), []) }
    }

    @Test func `shows neither query nor credential of a refused URL`() {
        let context = RuleContext(credentials: .token("SECRET-TOKEN"))
        for rule: TextRule in [.all(["ftp://h/", .credential("token")]), .all(["ftp://h/p?token=SECRET-TOKEN"])] {
            let error = #expect(throws: IntegrationError.self) { try URLRule(rule).url(context, for: "license URL") }
            #expect(error?.kind == .invalidURL)
            #expect(error?.description.contains("SECRET") == false)
        }
    }
}

@Suite struct BodyRuleTests {
    private static let fields: [BodyRule.Field] = [
        .init("spc", .spc), .init("id x", .credential("token")), .init("none", .setting("none")),
    ]

    @Test(arguments: [
        (BodyRule.base64Text, "text/plain", "+/8AAQ=="),
        (.form(fields), "application/x-www-form-urlencoded", "spc=%2B%2F8AAQ%3D%3D&id%20x=t%26%C3%A9"),
        (
            .formWithKeyURIQuery(fields), "application/x-www-form-urlencoded",
            "spc=%2B%2F8AAQ%3D%3D&id%20x=t%26%C3%A9&a=%20b&c"
        ),
        (.formWithKeyURIQuery([]), "application/x-www-form-urlencoded", "a=%20b&c"),
        (.json(["p": .rule(.spc), "v": 1]), "application/json", #"{"p":"+/8AAQ==","v":1}"#),
        (.json(.rule(.setting("none"))), "application/json", "{}"),
        (
            .multipart([.init("spc", .spc)]), "multipart/form-data; boundary=latchkey-form-boundary-7d3f2c",
            "--latchkey-form-boundary-7d3f2c\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\n+/8AAQ==\r\n"
                + "--latchkey-form-boundary-7d3f2c--\r\n"
        ),
    ])
    func `encodes the body`(rule: BodyRule, contentType: String, expected: String) throws {
        var context = RuleContext(keyURI: "skd://h/p?a=%20b&c", credentials: .token("t&é"))
        context.spc = SPCMessage(SampleBytes.spc)
        #expect(rule.contentType == contentType)
        #expect(String(decoding: try rule.data(context), as: UTF8.self) == expected)
    }

    @Test func `sends the bare SPC`() throws {
        var context = RuleContext()
        context.spc = SPCMessage(SampleBytes.spc)
        #expect(try BodyRule.raw.data(context) == SampleBytes.spc)
        #expect(BodyRule.raw.contentType == "application/octet-stream")
    }
}

@Suite struct RequestRuleTests {
    @Test func `leaves out empty header fields, and lets a rule set the content type`() throws {
        let rule = RequestRule(
            method: "PUT", url: URLRule("https://h/p"),
            headers: [
                .init("X-A", .setting("none")), .init("X-B", ""), .init("X-C", "c"), .init("Content-Type", "text/xml"),
            ], body: .json([:]))
        #expect(try rule.request(RuleContext()).sent == "PUT https://h/p\ncontent-type: text/xml\nx-c: c\n\n{}")
    }
}
