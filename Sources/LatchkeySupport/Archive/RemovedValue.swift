import Foundation
import LatchkeyCore

/// A placeholder that sanitizers of captures write in place of a value: `[token redacted]`, `[sanitized]`, `REDACTED`, `***`.
///
/// Source: github.com/cloudflare/har-sanitizer, github.com/shayonj/sanitizhar, github.com/elastic/apm/pull/378, read on 2026-11-29;
/// Latchkey's own redaction.
package enum RemovedValue {
    /// Whether a text is such a mark, perhaps after a scheme such as `Bearer`.
    package static func isOne(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count <= 120 else { return false }
        var bare = text.lowercased().withoutOuterSpace[...]
        for scheme in ["bearer ", "basic "] where bare.hasPrefix(scheme) {
            bare = bare.dropFirst(scheme.count).drop(while: \.isWhitespace)
        }
        guard let first = bare.first, let last = bare.last else { return false }
        if "*•█".contains(first), bare.utf8.count >= 3, bare.allSatisfy({ $0 == first }) { return true }
        let isMarked = marks.contains { $0.first == first && $0.last == last } && bare.count > 2
        return words.contains { isMarked ? first == "‹" || bare.contains($0) : bare == $0 }
    }

    /// Whether one of the values of a form or a JSON document is such a mark.
    package static func isIn(_ body: String) -> Bool {
        guard body.utf8.count <= 1 << 16 else { return false }
        return body.utf8.split { "\"&=\n".utf8.contains($0) }.contains { value in
            guard value.count <= 240, let text = String(value) else { return false }
            return isOne(text) || text.contains("%") && text.removingPercentEncoding.map(isOne) == true
        }
    }

    private static let words = [
        "redacted", "removed", "sanitized", "masked", "scrubbed", "filtered", "obfuscated", "hidden", "omitted",
    ]
    private static let marks: [(first: Character, last: Character)] = [
        ("[", "]"), ("<", ">"), ("{", "}"), ("(", ")"), ("‹", "›"), ("*", "*"), ("_", "_"),
    ]
}
