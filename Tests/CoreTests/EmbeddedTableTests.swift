import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct EmbeddedTableTests {
    private enum Color: String { case red, blue }

    private func table(_ text: String) -> EmbeddedTable<String> {
        EmbeddedTable(text, columns: 2...4) { row throws(TableFlaw) in
            let color: Color = try row.value(1) { Color(rawValue: $0) }
            return try "\(row.text(0)) \(color) \(row.texts(2)) \(row.valueIfAny(3) { Int($0) } ?? 0)"
        }
    }

    @Test func `a row has texts, several texts, words and numbers`() {
        let table = table("a b | red | One. / Two 1/2. | 3\nc|blue|x")
        #expect(table.rows == [#"a b red ["One.", "Two 1/2."] 3"#, #"c blue ["x"] 0"#])
        #expect(table.flaws == [])
    }

    @Test(arguments: [
        ("a", "It has 1 fields."), ("", "It has 1 fields."), ("a | red | x | 1 | y", "It has 5 fields."),
        (" | red | x", "Field 1 is missing."), ("a | red", "Field 3 is missing."),
        ("a | green | x", "Field 2, green, is wrong."), ("a | red | x | y", "Field 4, y, is wrong."),
    ])
    func `an unreadable row is left out and reported, and the others stay`(row: String, reason: String) {
        let table = table("a | red | x\n\(row)\nb | blue | y")
        #expect(table.rows == [#"a red ["x"] 0"#, #"b blue ["y"] 0"#])
        #expect(table.flaws.map(\.line) == [2] && table.flaws.map(\.reason) == [reason])
    }
}
