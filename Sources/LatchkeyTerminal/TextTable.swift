/// Rows of text in columns, for people.
package struct TextTable {
    private var rows: [[String]]

    /// - Parameter titles: the first row, in capitals by custom.
    package init(_ titles: String...) { rows = [titles] }

    /// - Parameter rows: all rows; a title row is optional.
    package init(rows: [[String]]) { self.rows = rows }

    package mutating func add(_ cells: String...) { rows.append(cells) }

    /// The rows as lines. A column is as wide as its widest cell. Columns are separated by two spaces, and lines have no trailing spaces.
    package var text: String {
        let rows = rows.map { $0.map(\.visible) }
        let lengths = rows.map { $0.map(\.count) }
        var widths: [Int] = []
        for lengths in lengths {
            for (column, length) in lengths.enumerated() {
                if column < widths.count { widths[column] = max(widths[column], length) } else { widths.append(length) }
            }
        }
        return zip(rows, lengths).map { cells, lengths in
            // The last cell with text ends the line.
            let end = lengths.lastIndex { $0 > 0 } ?? -1
            return (0..<max(end + 1, 0)).map { column in
                column == end
                    ? cells[column] : cells[column] + String(repeating: " ", count: widths[column] - lengths[column])
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
