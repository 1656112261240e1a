import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTerminal
import LatchkeyVendors

/// A feature of a FairPlay key's URI that a packager is unlikely to have intended.
///
/// FairPlay goes by KEYFORMAT, whatever the scheme (`Documentation/HLS.md` rule 12), but apps and vendors' samples look for `skd`:
/// github.com/Axinom/drm-quick-start-ios/issues/3, read on 2026-11-27.
enum KeyURIFault: Equatable {
    /// Quotes are part of it.
    case quotes
    /// An escape of XML or HTML is part of it.
    case escape(String)
    /// An unfilled placeholder of a packager.
    case placeholder(String)
    /// A misspelled `skd`.
    case misspelledScheme(String)
    /// Another scheme than `skd`, or none.
    case otherScheme(String?)
    /// Leading or trailing blanks.
    case blanks
    /// A placeholder that programs write for a missing value, or an empty value.
    case valueMissing(String)

    init?(_ key: KeyURI) {
        let text = key.raw
        let quotes: Set<Character> = ["'", "\"", "‘", "’", "“", "”", "`"]
        if let first = text.first, let last = text.last, quotes.contains(first) || quotes.contains(last) {
            self = .quotes
        } else if text.contains("&"),
            let escape = text.firstMatch(of: /&(amp|quot|apos|lt|gt|#[0-9]{2,3}|#x[0-9A-Fa-f]{2});/)
        {
            self = .escape(String(escape.0))
        } else if let word = Self.missingValue(key) {
            self = .valueMissing(word)
        } else if let placeholder = Self.placeholder(in: text) {
            self = .placeholder(placeholder)
        } else if text.first?.isWhitespace == true || text.last?.isWhitespace == true {
            self = .blanks
        } else if let scheme = key.scheme {
            guard scheme.lowercased() != "skd" else { return nil }
            let isSlip = Spelling.distance(scheme, "skd") == 1 && scheme.count < 5
            self = isSlip ? .misspelledScheme(scheme) : .otherScheme(scheme)
        } else if let word = text.firstMatch(of: /^([A-Za-z]{2,4}):/)?.1, Spelling.distance(String(word), "skd") == 1 {
            self = .misspelledScheme(String(word))
        } else {
            self = .otherScheme(nil)
        }
    }

    /// The placeholder that a program wrote as one of the URI's parts; empty if nothing names the key.
    private static func missingValue(_ key: KeyURI) -> String? {
        if let scheme = key.scheme, key.remainder.allSatisfy({ $0 == "/" }), scheme.lowercased() == "skd" { return "" }
        let parts = key.remainder.split { "/?&=;:".contains($0) }.map(String.init)
        return parts.first { Recognition.placeholders.contains($0.removingPercentEncoding ?? $0) }
    }

    /// Braces around a name, a name between dollar signs or angle brackets, a format specifier, or a word that asks to be replaced.
    private static func placeholder(in text: String) -> String? {
        let marks: Set<UInt8> = Set("{<[%$".utf8)
        let forms =
            !text.utf8.contains(where: marks.contains)
            ? []
            : [
                /\$?\{\{?[ $]?[A-Za-z_][A-Za-z0-9_. -]*\}?\}/, /%7[Bb][A-Za-z_][A-Za-z0-9_]*%7[Dd]/,
                /\$[A-Za-z_][A-Za-z0-9_]*\$/, /<[A-Za-z][^>]*>/, /\[[A-Z][A-Z_ ]+\]/, /%[sd@](?![0-9A-Fa-f])/,
            ]
        if let found = forms.lazy.compactMap({ text.firstMatch(of: $0)?.0 }).first(where: { !isGUID($0) }) {
            return String(found)
        }
        let words = /\b((INSERT|REPLACE|CHANGE|YOUR|ENTER)[_-][A-Za-z0-9_-]+|PLACEHOLDER|CHANGEME|TODO\b)/
        return text.firstMatch(of: words).map { String($0.0) }
    }

    /// Whether braces hold a GUID, which begins with a letter as often as not.
    private static func isGUID(_ text: Substring) -> Bool {
        let digits = text.filter { !"{}-".contains($0) }
        return digits.count == 32 && digits.allSatisfy(\.isHexDigit)
    }

    /// The check with its code.
    /// - Parameter shown: the key's URI without its secrets.
    func check(_ shown: String) -> Checkup {
        switch self {
        case .quotes:
            .error(
                .playlist, "keyURIQuoted", "\(shown): quotes are part of the key URI.",
                "Have the packager write URI=\"skd://…\" with nothing else between the quotes.")
        case .escape(let text):
            .error(
                .playlist, "keyURIEscaped", "\(shown): the key URI holds \(text), an escape of XML, as it is.",
                "Have the packager's configuration resolved before the playlist is written: & in place of &amp;.")
        case .placeholder(let text):
            .error(
                .playlist, "keyURIPlaceholder", "\(shown): the key URI holds the placeholder \(quoted(text)).",
                "Have the packager put the content's own id there.")
        case .misspelledScheme(let scheme):
            .error(
                .playlist, "keyURIScheme", "\(shown): its scheme is \(quoted(scheme)), a slip for skd.",
                "Have the packager write skd://; apps and vendors' SDKs look for that.")
        case .otherScheme(let scheme):
            .warning(
                .playlist, "keyURIScheme",
                "\(shown): its scheme is \(scheme.map { "\(quoted($0)), not skd" } ?? "missing").",
                "Have the packager write skd:// unless the vendor says otherwise; apps and vendors' SDKs look for that."
            )
        case .valueMissing(""):
            .warning(
                .playlist, "keyURIEmpty", "\(shown): the key URI names no key.",
                "Have the packager, or whatever writes the playlist, put the content's own id there.")
        case .valueMissing(let word):
            .error(
                .playlist, "keyURIEmpty",
                "\(shown): the key URI holds \(quoted(word)), which a program writes for a value that it does not have.",
                "Have the packager, or whatever writes the playlist, put the content's own id there.")
        case .blanks:
            .warning(
                .playlist, "keyURIBlank", "\(shown): the key URI begins or ends with a blank.",
                "Have the packager write the URI without it: license services compare every byte.")
        }
    }
}
