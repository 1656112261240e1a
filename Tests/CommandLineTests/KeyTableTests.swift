import Foundation
import LatchkeyHLS
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct KeyTableTests {
    @Test(arguments: [
        ([3], "3"), ([3, 4], "3 or 4"), ([3, 4, 5], "any of 3–5"), ([1, 3, 5], "1 or 3 or 5"),
        ([0, 1, 2, 3, 9], "any of 0–3 or 9"), (Array(100...130), "any of 100–130"),
    ])
    func `consecutive keys are one range`(_ keys: [Int], _ text: String) {
        #expect(KeyTable.alternatives(keys) == text)
    }

    @Test func `the next key of a live playlist has its own table`() throws {
        let lines = [
            "#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXTINF:2,", "a.ts",
            #"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="skd://next",KEYFORMAT="com.apple.streamingkeydelivery""#
                + #",DATE-OF-FIRST-USE="2026-08-06T12:00:08Z""#,
        ]
        let text = KeyTable(try Playlist(Data(lines.joined(separator: "\n").utf8))).text
        #expect(
            text.contains(
                """
                Next key
                LINE  SYSTEM    FIRST USE             URI
                5     FairPlay  2026-08-06T12:00:08Z  skd://next
                """))
        #expect(text.contains("No FairPlay key."))
    }

    @Test func `columns are as wide as their widest cells, and lines have no trailing blanks`() {
        let table = TextTable(rows: [["A", "BB", ""], ["ccc", "", ""], ["", "d", "é"], []])
        #expect(table.text == "A    BB\nccc\n     d   é\n")
    }
}
