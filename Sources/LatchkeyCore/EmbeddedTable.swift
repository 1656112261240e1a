import Foundation

/// A table in the program's text: one row per line, its fields between bars. Error numbers and vendors' codes are such tables.
///
/// An unreadable row is left out, and `flaws` says why. A test of each table requires that it has none.
package struct EmbeddedTable<Row: Sendable>: Sendable {
    package let rows: [Row]
    package let flaws: [TableFlaw]

    /// - Parameters:
    ///   - columns: the number of fields in a row; trailing fields may be left out down to the minimum.
    ///   - read: makes a row's value.
    package init(_ text: String, columns: ClosedRange<Int>, _ read: (TableRow) throws(TableFlaw) -> Row) {
        var rows: [Row] = []
        var flaws: [TableFlaw] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let row = TableRow(line: index + 1, line)
            do throws(TableFlaw) {
                guard columns ~= row.fields.count else { throw row.flaw("It has \(row.fields.count) fields.") }
                rows.append(try read(row))
            } catch { flaws.append(error) }
        }
        (self.rows, self.flaws) = (rows, flaws)
    }
}

/// The problem with a row.
package struct TableFlaw: Error, Hashable {
    /// The row's line, from 1 on.
    package let line: Int
    package let reason: String
}

/// A row of a table, as text.
package struct TableRow {
    private let line: Int
    fileprivate let fields: [String]

    fileprivate init(line: Int, _ text: Substring) {
        self.line = line
        fields = text.split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// A field's value.
    package func value<Value>(_ column: Int, _ read: (String) -> Value?) throws(TableFlaw) -> Value {
        guard let value = try valueIfAny(column, read) else { throw flaw("Field \(column + 1) is missing.") }
        return value
    }

    /// A field's value; `nil` if the field is empty or left out.
    package func valueIfAny<Value>(_ column: Int, _ read: (String) -> Value?) throws(TableFlaw) -> Value? {
        guard column < fields.count, !fields[column].isEmpty else { return nil }
        guard let value = read(fields[column]) else { throw flaw("Field \(column + 1), \(fields[column]), is wrong.") }
        return value
    }

    /// A field's text.
    package func text(_ column: Int) throws(TableFlaw) -> String { try value(column) { $0 } }

    /// The texts of a field with several, between slashes with blanks.
    package func texts(_ column: Int) throws(TableFlaw) -> [String] {
        try text(column).split(separator: " / ").map(String.init)
    }

    package func flaw(_ reason: String) -> TableFlaw { TableFlaw(line: line, reason: reason) }
}
