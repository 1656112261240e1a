import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct KeyTableTests {
    @Test(arguments: [
        ([3], "3"), ([3, 4], "3 or 4"), ([3, 4, 5], "any of 3–5"), ([1, 3, 5], "1 or 3 or 5"),
        ([0, 1, 2, 3, 9], "any of 0–3 or 9"), (Array(100...130), "any of 100–130"),
    ])
    func `keys that follow one another are one range`(_ keys: [Int], _ text: String) {
        #expect(KeyTable.alternatives(keys) == text)
    }

    @Test func `columns are as wide as their widest cells, and lines end with their last one`() {
        let table = TextTable(rows: [["A", "BB", ""], ["ccc", "", ""], ["", "d", "é"], []])
        #expect(table.text == "A    BB\nccc\n     d   é\n")
    }
}
