import LatchkeyTerminal

/// The manual page of the tool, in roff.
struct ManualPage {
    let version: String
    let verbs: [Usage]

    var text: String {
        let parts =
            [
                ".TH LATCHKEY 1 \"\" \"latchkey \(version)\" \"User Commands\"",
                ".SH NAME", "latchkey \\- FairPlay key delivery end to end, without an Apple device",
                ".SH SYNOPSIS", ".B latchkey", ".I VERB", "[options]",
                ".SH DESCRIPTION",
                escaped(
                    """
                    Plays, serves, explains and diagnoses FairPlay streams: license services of every vendor and a simulated device, \
                    with test credentials. Results go to standard output, everything else to standard error.
                    """),
                ".SH VERBS",
            ] + verbs.map(section) + [
                ".SH ENVIRONMENT", list(Self.variables),
                ".SH EXIT STATUS", list(Self.statuses),
                ".SH SEE ALSO", ".BR ffmpeg (1)",
            ]
        return parts.joined(separator: "\n") + "\n"
    }

    private static let variables = [
        (
            "LATCHKEY_TOKEN",
            "the token of the vendor, where --set does not give it; LATCHKEY_NAME for a credential NAME"
        ),
        ("SSL_CERT_FILE", "certificates of authorities to trust, in PEM, as --ca"),
        ("PATH", "where ffmpeg is looked for"),
        ("TMPDIR", "where streams lie while they play, for nobody but the user"),
    ]

    private static let statuses = [
        ("0", "yes"), ("1", "no: refused, wrong or failed"), ("2", "wrong usage"),
        ("128 + N", "ended by signal N, with nothing left behind"),
    ]

    private func section(_ usage: Usage) -> String {
        var parts = [".SS latchkey \(escaped(usage.name))", escaped(usage.summary) + "."]
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

    private func list(_ rows: [(String, String)]) -> String {
        rows.map { ".TP\n.B \(escaped($0.trimmingBlanks))\n\(escaped($1))" }.joined(separator: "\n")
    }

    /// Text as roff takes it: backslashes and dashes as they are, other scripts by number, no line that begins with a control character.
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
