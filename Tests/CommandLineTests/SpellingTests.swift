import LatchkeyForms
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct SpellingTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "ABC", 0), ("abc", "ab", 1), ("abc", "acb", 1), ("abc", "xbc", 1),
        ("", "abc", 3), ("kitten", "sitting", 3),
    ])
    func `edits are counted`(one: String, other: String, count: Int) {
        #expect(Spelling.distance(one, other) == count)
        #expect(Spelling.distance(other, one) == count)
    }

    @Test(arguments: [("kyes", "keys"), ("inspekt", "inspect"), ("zebra", nil), ("", nil)] as [(String, String?)])
    func `a close word is suggested`(word: String, closest: String?) {
        #expect(Spelling.closest(to: word, among: ["inspect", "keys", "serve"]) == closest)
    }
}
