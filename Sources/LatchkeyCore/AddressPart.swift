/// A part of a URL's text in which a secret can be.
package struct AddressPart {
    /// Where a part is.
    package enum Place: Sendable, Hashable {
        /// Before the host.
        case user
        case host
        /// A path segment, or a piece of one.
        case path
        case query, fragment
        /// A name before `=`, wherever it is.
        case name
    }

    package let place: Place
    /// The name before `=`, percent-decoded; empty if there is none.
    package let name: String
    /// The value as it was written.
    package let text: String
    /// The text that redaction shows for it.
    package let shown: String

    /// Whether it is a secret, or holds one.
    package var isSecret: Bool { shown != text }
}

extension Redaction {
    /// The text of a URL, which need not be valid or absolute, without its secrets.
    ///
    /// The grammar is in `Documentation/Redaction.md`.
    /// - Complexity: linear in the text.
    package func redacted(urlText: String) -> String { mapping(urlText: urlText, \.shown) }

    /// The text of a URL with each of its parts replaced.
    /// - Parameter show: returns the text for a part.
    package func mapping(urlText: String, _ show: @escaping (AddressPart) -> String) -> String {
        var scanner = AddressScanner(self, Array(urlText.utf8)[...], show)
        return String(decoding: scanner.scanned(), as: UTF8.self)
    }

    /// The secrets in the text of a URL, percent-decoded.
    package func secrets(inURL urlText: String) -> [Secret] {
        var found: [String] = []
        _ = mapping(urlText: urlText) { part in
            if part.isSecret { found.append(part.text) }
            return part.text
        }
        return found.map { Secret(AddressScanner.decoded(Array($0.utf8)[...])) }
    }
}
