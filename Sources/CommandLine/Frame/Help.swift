extension CommandLineTool {
    /// The verbs, a line each.
    var help: String {
        """
        latchkey: FairPlay key delivery end to end, without an Apple device

        Usage: latchkey VERB [options]

        \(Help.table(verbs.map { ($0.usage.name, $0.usage.summary) }))

        `latchkey VERB --help` says more, with examples. `latchkey --version` prints the version.
        Exit codes: 0 yes, 1 no, 2 wrong usage. Results go to standard output, everything else to standard error.
        """
    }
}

extension Usage {
    /// The whole help of a verb.
    var help: String {
        var parts = ["latchkey \(name): \(summary)", "Usage: \(line)"]
        if !positionals.isEmpty { parts.append(Help.table(positionals.map { ($0.name, $0.help) })) }
        if !details.isEmpty { parts.append(details) }
        parts.append("Options:\n" + Help.table(options.map(\.row) + [("-h, --help", "show this")]))
        parts.append("Examples:\n" + examples.map { "  \($0)" }.joined(separator: "\n"))
        parts.append("Exit codes:\n" + Help.table([("0", yes), ("1", no), ("2", "wrong usage")]))
        return parts.joined(separator: "\n\n")
    }

    private var line: String {
        let required = options.filter(\.isRequired).map { "\($0.name) \($0.placeholder ?? "")" }
        let hasMore = options.contains { !$0.isRequired }
        let words = ["latchkey", name] + required + (hasMore ? ["[options]"] : []) + positionals.map(\.name)
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

/// How help is laid out.
enum Help {
    /// Two columns within 100 characters; what is too long for the left one gets a line of its own.
    static func table(_ rows: [(String, String)]) -> String {
        let width = min(24, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        let lines = rows.map { left, right in
            let wrapped = wrap(right, to: 96 - width).joined(separator: "\n" + indent)
            let gap = left.count > width ? "\n" + indent : String(repeating: " ", count: width - left.count + 2)
            return "  " + left + gap + wrapped
        }
        return lines.joined(separator: "\n")
    }

    /// Cuts a text into lines at blanks.
    static func wrap(_ text: String, to width: Int) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
