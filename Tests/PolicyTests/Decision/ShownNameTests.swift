import LatchkeyCore
import Testing

@testable import LatchkeyDecision

/// The part of an SPC's name that a refusal repeats: the sender of a foreign SPC must not be able to read the name.
@Suite(.timeLimit(.minutes(1))) struct ShownNameTests {
    @Test(arguments: [
        ("movie", "movie"), (String(repeating: "no ", count: 13) + "o", String(repeating: "no ", count: 13) + "o"),
        (String(repeating: "no ", count: 13) + "on", String(repeating: "no ", count: 13) + "o…"),
        ("a\u{0}b\u{1f}c\u{7f}d\u{80}e\u{e9}f", "a?b?c?d?e?f"), ("\u{fffd}\u{202e}", "??"), ("", ""),
    ])
    func `a refusal repeats at most 40 characters of printable ASCII`(name: String, shown: String) {
        let reasons = [
            LicenseRefusal.unknownKey(name).reason, LicenseRefusal.ambiguousKey(name).reason,
            LicenseRefusal.contentMismatch(name, "x").reason, LicenseRefusal.contentMismatch("x", name).reason,
        ]
        #expect(reasons.count == 4)
        for reason in reasons { #expect(reason.contains("“\(shown)”"), "\(reason)") }
    }

    @Test func `a token in a name is not repeated`() {
        #expect(!LicenseRefusal.unknownKey("skd://a?token=abcdefgh").reason.contains("abcdefgh"))
    }
}
