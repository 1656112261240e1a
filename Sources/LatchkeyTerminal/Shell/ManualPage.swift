/// The manual page of a program with verbs, in roff.
package struct ManualPage: Sendable {
    /// A word and its description.
    package typealias Row = (String, String)

    private let program: String
    private let summary: String
    private let description: String
    private let variables: [Row]
    private let seeAlso: String?

    /// - Parameters:
    ///   - program: the program's name.
    ///   - summary: a one-line summary.
    ///   - description: a paragraph of description.
    ///   - variables: the environment variables that it reads.
    ///   - seeAlso: another program of section 1. Defaults to none.
    package init(
        of program: String, _ summary: String, _ description: String, variables: [Row], seeAlso: String? = nil
    ) {
        self.program = program
        self.summary = summary
        self.description = description
        self.variables = variables
        self.seeAlso = seeAlso
    }

    /// The page.
    package func text(_ verbs: [Usage]) -> String {
        let name = escaped(program)
        let parts =
            [
                ".TH \(program.uppercased()) 1 \"\" \"\(program) \(CommandLineTool.version)\" \"User Commands\"",
                ".SH NAME", "\(name) \\- \(escaped(summary))", ".SH SYNOPSIS", ".B \(name)", ".I VERB", "[options]",
                ".SH DESCRIPTION", escaped(description), ".SH VERBS",
            ] + verbs.map(section) + [
                ".SH ENVIRONMENT", list(variables), ".SH EXIT STATUS", list(Self.statuses),
            ] + (seeAlso.map { [".SH SEE ALSO", ".BR \($0) (1)"] } ?? [])
        return parts.joined(separator: "\n") + "\n"
    }

    private static let statuses = [
        ("0", "yes"), ("1", "no: refused, wrong or failed"), ("2", "wrong usage"),
        ("3", "unknown: not enough was seen to say yes or no"),
        ("128 + N", "ended by signal N, with nothing left behind"),
    ]

    private func section(_ usage: Usage) -> String {
        var parts = [".SS \(escaped(usage.command))", escaped(usage.summary) + "."]
        if !usage.details.isEmpty { parts.append(".PP\n" + escaped(usage.details.replacing("\n", with: " "))) }
        parts.append(list(usage.positionals.map { ($0.name, $0.help) }))
        parts.append(list(usage.options.map { ("\($0.name) \($0.placeholder ?? "")", $0.help) }))
        parts.append(".PP\nExamples:\n.PP\n.nf\n.RS\n" + escaped(usage.examples.joined(separator: "\n")) + "\n.RE\n.fi")
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// `\[u2026]`.
    private static func numbered(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
    }

    private func list(_ rows: [Row]) -> String {
        rows.map { ".TP\n.B \(escaped($0.trimmingBlanks))\n\(escaped($1))" }.joined(separator: "\n")
    }

    /// Escapes text for roff: backslashes and dashes are literal, other scripts become numbers, and no line begins with a
    /// control character.
    private func escaped(_ text: String) -> String {
        let marked = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        let plain = marked.unicodeScalars.reduce(into: "") { plain, scalar in
            if scalar.isASCII { plain.unicodeScalars.append(scalar) } else { plain += Self.numbered(scalar) }
        }
        return plain.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&\($0)" : String($0) }.joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingBlanks: String { String(reversed().drop { $0 == " " }.reversed()) }
}
