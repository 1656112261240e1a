import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite struct TextRuleTests {
    private var context: RuleContext {
        var context = RuleContext(
            license: LicenseContext(keyURI: "skd://h.example/a/b;c?KID=k%201&iv=2?z", contentIdentifier: "spc-id"),
            spc: SPCMessage(SampleBytes.spc))
        context.settings = ["tenant": "t 1", "empty": ""]
        context.credentials = .token("tok+1")
        context.contentID = "content"
        return context
    }

    @Test(
        arguments: [
            (TextRule.wholeURI, "skd://h.example/a/b;c?KID=k%201&iv=2?z"),
            (.remainder, "h.example/a/b;c?KID=k%201&iv=2?z"), (.remainderBeforeQuery, "h.example/a/b;c"),
            (.afterFirstQuestionMark, "KID=k%201&iv=2?z"), (.afterLastQuestionMark, "z"),
            (.lastPathComponent, "b;c"), (.afterLast("/"), "b;c?KID=k%201&iv=2?z"), (.host, "h.example"),
            (.afterLast(";"), "c?KID=k%201&iv=2?z"),
            (.afterLast("none"), nil), (.query("kid"), "k%201"), (.query("none"), nil), (.firstQueryValue, "k%201"),
            (.httpsURI, "https://h.example/a/b;c?KID=k%201&iv=2?z"), (.fixed("f"), "f"), ("f", "f"),
            (.setting("tenant"), "t 1"), (.setting("none"), nil), (.credential("token"), "tok+1"),
            (.credential("none"), nil), (.contentID, "content"), (.spcIdentifier, "spc-id"), (.spc, "+/8AAQ=="),
            (.spcURLSafe, "-_8AAQ=="), (.firstOf([.setting("none"), .setting("empty"), .host]), "h.example"),
            (.firstOf([.setting("none")]), nil), (.all(["a", .host]), "ah.example"),
            (.all(["a", .setting("none")]), nil),
            (.joined(["a", .setting("none"), "b"], separator: ","), "a,b"), (.joined([], separator: ","), nil),
            (.base64Decoded("c2tk"), "skd"), (.base64Decoded("%%"), nil), (.base64Decoded("/w=="), nil),
            (.base64("skd"), "c2tk"), (.percentDecoded(.query("kid")), "k 1"), (.percentDecoded("%zz"), nil),
            (.percentEncoded(.credential("token")), "tok%2B1"),
            (.replacing(";", with: .setting("tenant"), in: .remainderBeforeQuery), "h.example/a/bt 1c"),
            (.replacing(";", with: .setting("none"), in: .host), nil),
            (.replacing("a", with: "b", in: "aXa"), "bXa"), (.replacing("z", with: "b", in: "aXa"), "aXa"),
            (.from(.remainderBeforeQuery, take: .afterLast(";")), "c"), (.from("skd://x/y", take: .host), "x"),
            (.from(.setting("none"), take: .host), nil), (.from(.wholeURI, take: .query("none")), nil),
            (.template("https://{host}/{tenant}"), "https://h.example/t 1"),
            (.template("{contentID}-{lastPathComponent}"), "content-b;c"), (.template("{none}"), nil),
            (.template("{empty}/x"), nil),
            (.template("{open"), "{open"), (.json(["a": .rule(.host), "n": 1]), #"{"a":"h.example","n":1}"#),
        ] as [(TextRule, String?)])
    func `gives its text`(rule: TextRule, expected: String?) {
        #expect(context.text(rule) == expected)
    }

    @Test func `gives nothing without a key URI`() {
        #expect(RuleContext().text(.wholeURI) == nil)
        #expect(RuleContext().text(.spc) == nil)
    }

    @Test func `knows the settings and credentials it reads`() {
        let names = TextRule.firstOf([
            .setting("a"), .template("{b}{host}"), .base64(.credential("c")), .json(["x": .rule(.setting("d"))]),
            .replacing("x", with: .setting("e"), in: .joined([.credential("f")], separator: "")),
        ]).names
        #expect(names.settings == ["a", "b", "d", "e"])
        #expect(names.credentials == ["c", "f"])
    }

    @Test(arguments: [
        (TextRule.setting("none"), Diagnosis.Kind.missingSetting), (.setting("empty"), .missingSetting),
        (.credential("none"), .missingCredential), (.query("none"), .contentIdentifierMissing),
    ])
    func `names missing values`(rule: TextRule, expected: Diagnosis.Kind) {
        let error = #expect(throws: IntegrationError.self) { try context.requiredText(rule, for: "use") }
        #expect(error?.kind == expected)
    }
}

@Suite struct JSONTemplateTests {
    @Test func `writes keys in order, escapes texts and omits missing values`() {
        let template: JSONTemplate = [
            "z": .array(["a\"\\\n\r\t\u{1}é/", .rule(.setting("none")), .bool(true)]), "a": .number(-1),
            "m": .rule(.setting("none")), "k\"": .object([:]),
        ]
        #expect(template.text(RuleContext()) == #"{"a":-1,"k\"":{},"z":["a\"\\\n\r\t\u0001é/",true]}"#)
    }
}
