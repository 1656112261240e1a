import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct RedactionProseTests {
    private static func shown(_ text: String) -> String { Redaction.standard.redacted(prose: text) }
    private static let short = Secret("abc-def.1").short

    @Test(arguments: [
        ("skd://a?token=abc-def.1", "skd://a?token=SHORT"),
        ("a skd://a?token=abc-def.1, and more", "a skd://a?token=SHORT, and more"),
        ("“skd://a?x=1&authToken=abc-def.1#f”", "“skd://a?x=1&authToken=SHORT#f”"),
        (#"{"uri":"skd://a?sig=abc-def.1","b":1}"#, #"{"uri":"skd://a?sig=SHORT","b":1}"#),
        ("(https://h/p?jwt=abc-def.1)", "(https://h/p?jwt=SHORT)"),
        ("https://ann:secret@host/p?x=1", "https://‹user›@host/p?x=1"),
        (#"{"token": "abc-def.1", "b": 1}"#, #"{"token": "SHORT", "b": 1}"#), ("token=abc-def.1", "token=SHORT"),
        ("redis://:secret@host", "redis://‹user›@host"),
        ("a?password=abc-def.1 b?password=abc-def.1", "a?password=SHORT b?password=SHORT"),
    ])
    func `secrets of URLs are hidden everywhere`(text: String, wanted: String) {
        #expect(Self.shown(text) == wanted.replacing("SHORT", with: Self.short))
    }

    @Test(arguments: [
        "skd://a?x=1&kid=2", "no URL = no change @ all", "https://h/?token={token}", "https://h/?token=…", "a&b=c",
        "--set token=@FILE", "token: see below", "12:30:45.123", "\"token\": \"a JWT\"",
        "https://h/?token=‹9:abcdef›", "?=x", "?token=", "&", "://", "://@", "",
    ])
    func `other or hidden texts stay`(_ text: String) { #expect(Self.shown(text) == text) }

    @Test func `a JSON escape does not end the secret`() {
        let shown = Self.shown(#"{"uri":"skd://a?token=one\"two\\three","b":1}"#)
        #expect(!shown.contains("one") && !shown.contains("two") && !shown.contains("three"))
        #expect(shown.hasSuffix(#"","b":1}"#))
    }
}
