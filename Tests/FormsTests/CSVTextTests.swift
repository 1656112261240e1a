import LatchkeyCore
import Testing

@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(1))) struct CSVTextTests {
    /// Reads as RFC 4180 says, and takes one apostrophe off.
    static func rows(_ text: String) -> [[String]] {
        var (rows, row, field): ([[String]], [String], String.UnicodeScalarView) = ([], [], .init())
        var isQuoted = false
        var scalars = text.unicodeScalars[...]
        func taken() -> String { field.first == "'" ? String(field.dropFirst()) : String(field) }
        while let one = scalars.popFirst() {
            switch (one, isQuoted) {
            case ("\"", true) where scalars.first == "\"": field.append(scalars.removeFirst())
            case ("\"", _): isQuoted.toggle()
            case (",", false):
                row.append(taken())
                field = .init()
            case ("\r", false) where scalars.first == "\n":
                scalars.removeFirst()
                rows.append(row + [taken()])
                (row, field) = ([], .init())
            default: field.append(one)
            }
        }
        return rows
    }

    @Test(arguments: [
        "=HYPERLINK(\"http://evil\",\"x\")", "+1", "-1+1|cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1",
    ])
    func `no field begins like a formula`(_ text: String) {
        let row = CSVText.row(["a", text, "b"])
        let shown = row.dropFirst(2).drop { $0 == "\"" }
        #expect(shown.hasPrefix("'"), "\(row)")
        #expect(Self.rows(row) == [["a", text, "b"]])
    }

    @Test func `any text comes back unchanged`() {
        var generator = SeededGenerator(seed: 28)
        let alphabet = Array("ab,\"'=+-@\r\n\t é＝🙂".unicodeScalars)
        let rows = (0..<2_000).map { _ in
            (0..<4).map { _ -> String in
                var text = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
                }
                return String(text)
            }
        }
        let read = Self.rows(rows.map(CSVText.row).joined())
        #expect(read.count == rows.count)
        #expect(zip(read, rows).allSatisfy { $0.map { Array($0.utf8) } == $1.map { Array($0.utf8) } })
    }

    @Test func `a plain field stays plain, and a line ends as RFC 4180 says`() {
        #expect(CSVText.row(["licenses", "12", "a b"]) == "licenses,12,a b\r\n")
        #expect(CSVText.row(["a,b", "say \"x\""]) == "\"a,b\",\"say \"\"x\"\"\"\r\n")
    }
}
