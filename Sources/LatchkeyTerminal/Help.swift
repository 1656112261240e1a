extension Usage {
    /// The whole help of a verb.
    package var help: String {
        var parts = ["\(command): \(summary)", "Usage: \(line)"]
        if !positionals.isEmpty { parts.append(Help.table(positionals.map { ($0.name, $0.help) })) }
        if !details.isEmpty { parts.append(details) }
        if !options.isEmpty { parts.append("Options:\n" + Help.table(options.map(\.row))) }
        parts.append("Examples:\n" + examples.map { "  \($0)" }.joined(separator: "\n"))
        let codes = ["0 \(yes)", "1 \(no)", "2 wrong usage"] + [unknown.map { "3 \($0)" }].compactMap(\.self)
        parts.append(
            Help.wrap("Exit codes: \(codes.joined(separator: "; ")).", to: 120).joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    private var line: String {
        let required = options.filter(\.isRequired).map { "\($0.name) \($0.placeholder ?? "")" }
        let hasMore = options.contains { !$0.isRequired }
        let words = [command] + required + (hasMore ? ["[options]"] : []) + positionals.map(\.placeholder)
        return words.joined(separator: " ")
    }
}

extension Parameter {
    fileprivate var row: (String, String) {
        let left = placeholder.map { "\(name) \($0)" } ?? name
        let notes = [isRequired ? "required" : nil, isRepeatable ? "repeatable" : nil].compactMap { $0 }
        return (left, notes.isEmpty ? help : "\(help) (\(notes.joined(separator: ", ")))")
    }
}

/// The layout of help.
package enum Help {
    /// Two columns within 100 characters; an entry too long for the left one gets its own line.
    ///
    /// - Parameter limit: the maximum width of the left column.
    package static func table(_ rows: [(String, String)], width limit: Int = 24) -> String {
        let width = min(limit, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        let lines = rows.map { left, right in
            let wrapped = wrap(right, to: 96 - width).joined(separator: "\n" + indent)
            let gap = left.count > width ? "\n" + indent : String(repeating: " ", count: width - left.count + 2)
            return "  " + left + gap + wrapped
        }
        return lines.joined(separator: "\n")
    }

    /// Breaks a text into lines at spaces.
    package static func wrap(_ text: String, to width: Int) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
