import Foundation
import LatchkeyCore

/// Texts of a trace in a file: on one line, and more strictly redacted than a log, because a file is shared.
///
/// Every value of a query is replaced by its length and digest, whatever its name, and so is any text too long for a word: no key's name
/// and no identifier has more than 64 characters without a break, and every SPC, CKC and token has.
enum TraceText {
    private static let longestWord = 64
    private static let longestText = 2_000

    /// An address without user and secrets, and without the values of its query and its fragment.
    static func shown(url: String) -> String {
        let text = Redaction.standard.mapping(urlText: url.onOneLine) { part in
            switch part.place {
            case .query, .fragment: hidden(part.text)
            default: part.isSecret ? part.shown : word(part.text[...])
            }
        }
        return String(text.prefix(longestText))
    }

    /// Words: addresses among them are shown as addresses.
    static func shown(_ text: String) -> String {
        let words = text.onOneLine.split(separator: " ", omittingEmptySubsequences: false).map { part in
            part.contains("://") ? shown(url: String(part)) : word(part)
        }
        return String(words.joined(separator: " ").prefix(longestText))
    }

    private static func word(_ text: Substring) -> String {
        text.utf8.count > longestWord ? Secret(String(text)).short : String(text)
    }

    /// A value that is already hidden stays unchanged.
    private static func hidden(_ value: String) -> String {
        value.isEmpty || value.isRedacted ? value : Secret(value).short
    }
}
