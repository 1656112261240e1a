/// Rows of text in columns, for people.
struct TextTable {
    private var rows: [[String]]

    /// - Parameter titles: the first row, in capitals by custom.
    init(_ titles: String...) { rows = [titles] }

    /// - Parameter rows: all rows; there need not be a title.
    init(rows: [[String]]) { self.rows = rows }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// The rows, each as wide as its widest cell, two blanks between; no blanks at the ends of lines.
    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { cells in
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
