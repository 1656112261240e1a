extension HTML {
    /// A column of a table, by its heading.
    package enum Column: Sendable, Hashable {
        /// Names the subject of its row.
        case heading(String)
        case text(String)
        /// Numbers, aligned by their last digit.
        case number(String)

        var name: String {
            switch self {
            case .heading(let name), .text(let name), .number(let name): name
            }
        }
    }

    /// A table that scrolls separately, with the keyboard too, if the window is narrow.
    /// - Parameters:
    ///   - name: its accessibility label.
    ///   - caption: the text above it; `nil` for none.
    ///   - rows: a cell for each column.
    package static func table(
        _ name: String, caption: String? = nil, _ columns: [Column], _ rows: [[HTML]]
    ) -> HTML {
        let heads = columns.map { column in
            if case .number = column { return element("th", ["scope": "col", "class": "number"], column.name) }
            return element("th", ["scope": "col"], column.name)
        }
        let lines = rows.map { cells in element("tr", [:], zip(columns, cells).map(cell)) }
        let table = element(
            "table", ["aria-label": name],
            [
                caption.map { element("caption", [:], [element("span", [:], $0)]) } ?? .none,
                element("thead", [:], [element("tr", [:], heads)]), element("tbody", [:], lines),
            ])
        return sheet(name, table)
    }

    /// The same for texts.
    package static func table(
        _ name: String, caption: String? = nil, _ columns: [Column], _ rows: [[String]]
    ) -> HTML { table(name, caption: caption, columns, rows.map { $0.map { .text($0) } }) }

    /// Content that scrolls separately if the window is narrow.
    static func sheet(_ name: String, _ content: HTML) -> HTML {
        element("div", ["class": "sheet", "tabindex": "0", "role": "region", "aria-label": name], [content])
    }

    private static func cell(_ column: Column, _ content: HTML) -> HTML {
        switch column {
        case .heading: element("th", ["scope": "row"], [content])
        case .text: element("td", [:], [content])
        case .number: element("td", ["class": "number"], [content])
        }
    }
}
