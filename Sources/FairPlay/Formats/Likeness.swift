import Foundation
import LatchkeyCore

/// What bytes look like that were taken for an SPC, a CKC or a certificate.
enum Likeness {
    /// - Returns: `HTML or XML`, `JSON`, `PEM text`, `base64 text`, `a certificate`; nil without an idea.
    static func of(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x30, 0x82]) { return "a certificate" }
        var head = bytes.prefix(512)
        if head.starts(with: [0xef, 0xbb, 0xbf]) { head = head.dropFirst(3) }
        let start = String(decoding: head, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if start.hasPrefix("-----BEGIN") { return "PEM text" }
        if start.hasPrefix("<") { return "HTML or XML" }
        if start.hasPrefix("{") || start.hasPrefix("[") || start.hasPrefix("\"") { return "JSON" }
        guard let text = String(bytes: bytes, encoding: .utf8), Data(lenientBase64: text) != nil else { return nil }
        return "base64 text"
    }
}
