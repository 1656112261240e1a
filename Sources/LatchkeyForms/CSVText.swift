/// Rows of comma-separated values, for spreadsheets and for programs.
///
/// A field that a spreadsheet would take for a formula, or that begins with an apostrophe, gets a leading apostrophe: remove one if
/// present, and every field is as it was.
///
/// Source: RFC 4180 §2; OWASP, CSV Injection, read 2026-11-27.
package enum CSVText {
    /// Characters that a spreadsheet may take for the beginning of a formula, and the apostrophe itself.
    private static let leads: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'"]

    /// One row, with its line end.
    package static func row(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

    private static func field(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map(leads.contains) ?? false
        let shown = isFormula ? "'\(text)" : text
        guard shown.utf8.contains(where: { [0x22, 0x2c, 0x0d, 0x0a].contains($0) }) else { return shown }
        return "\"\(shown.replacing("\"", with: "\"\""))\""
    }
}
