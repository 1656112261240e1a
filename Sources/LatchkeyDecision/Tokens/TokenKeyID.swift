import LatchkeyCore

/// The name of a key that signs tokens: `kid` in headers and key sets. Compared byte for byte, and used for nothing but that.
package struct TokenKeyID: Sendable, Hashable, CustomStringConvertible {
    /// The longest name in bytes: 256.
    package static let limit = 256

    private let bytes: [UInt8]

    /// - Parameter text: the name; the result is `nil` for none and for one beyond the limit.
    package init?(_ text: String) {
        guard (1...Self.limit).contains(text.utf8.count) else { return nil }
        bytes = Array(text.utf8)
    }

    /// The name.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The name as a message may show it: at most 60 characters, on one line.
    package var description: String {
        let text = text
        return text.count > 60 ? "\(text.prefix(60).description.onOneLine)…" : text.onOneLine
    }
}
