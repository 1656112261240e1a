import LatchkeyCore
import Testing

@Suite struct OneLineTests {
    @Test(arguments: [
        ("plain, größer, 日本", "plain, größer, 日本"), ("a\r\nb", #"a\u{d}\u{a}b"#), ("\u{1b}[31m", #"\u{1b}[31m"#),
        ("\u{7f}\u{85}", #"\u{7f}\u{85}"#), ("a\u{202e}b\u{2028}", #"a\u{202e}b\u{2028}"#), ("", ""),
    ])
    func `characters that disturb a line are shown by their number`(text: String, line: String) {
        #expect(text.onOneLine == line)
    }
}
