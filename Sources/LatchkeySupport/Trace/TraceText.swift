import Foundation
import LatchkeyCore

/// Texts of a trace as a file shows them: on one line, and stricter about secrets than a log, because a file is sent to strangers.
///
/// Every value of a query is replaced by its length and digest, whatever its name, and so is whatever is too long for a word: no key's
/// name and no identifier has more than 64 characters without a break, and every SPC, CKC and token has.
enum TraceText {
    private static let longestWord = 64
    private static let longestText = 2_000

    /// An address without user, and without the values of its query.
    static func shown(url: String) -> String {
        let text = Redaction.standard.redacted(urlText: String(url.prefix { $0 != "#" }).onOneLine)
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let base = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map(word)
            .joined(separator: "/")
        guard parts.count > 1 else { return String(base.prefix(longestText)) }
        let items = parts[1].split(separator: "&", omittingEmptySubsequences: false).map(item)
        return String("\(base)?\(items.joined(separator: "&"))".prefix(longestText))
    }

    /// Words: addresses among them are shown as such.
    static func shown(_ text: String) -> String {
        let words = text.onOneLine.split(separator: " ", omittingEmptySubsequences: false).map { part in
            part.contains("://") ? shown(url: String(part)) : word(part)
        }
        return String(words.joined(separator: " ").prefix(longestText))
    }

    private static func word(_ text: Substring) -> String {
        text.utf8.count > longestWord ? Secret(String(text)).short : String(text)
    }

    private static func item(_ text: Substring) -> String {
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        // Without a name the whole is a value.
        guard let name = pair.first, pair.count > 1, let value = pair.last else { return hidden(text) }
        return "\(word(name))=\(hidden(value))"
    }

    /// A value that is hidden already stays as it is.
    private static func hidden(_ value: Substring) -> String {
        value.isEmpty || (value.hasPrefix("‹") && value.hasSuffix("›")) ? String(value) : Secret(String(value)).short
    }
}
