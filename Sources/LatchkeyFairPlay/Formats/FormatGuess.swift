import Foundation
import LatchkeyCore

/// The likely format of bytes that are not the expected SPC, CKC or certificate.
enum FormatGuess: String {
    case certificate = "a certificate"
    case pem = "PEM text"
    case html = "HTML or XML"
    case json = "JSON"
    case base64 = "base64 text"
    case form = "a form with fields"

    /// Longer text is not checked, so that a guess stays cheap for any input.
    private static let longestBase64 = 131_072

    /// - Returns: `nil` if the format is not recognizable.
    init?(of bytes: [UInt8]) {
        if bytes.starts(with: [0x30, 0x82]) {
            self = .certificate
            return
        }
        var head = bytes.prefix(512)
        if head.starts(with: [0xef, 0xbb, 0xbf]) { head = head.dropFirst(3) }
        let start = String(decoding: head, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        switch start.first {
        case "<": self = .html
        case "{", "[", "\"": self = .json
        case "-" where start.hasPrefix("-----BEGIN"): self = .pem
        default:
            guard bytes.count <= Self.longestBase64, let text = String(bytes: bytes, encoding: .utf8) else {
                return nil
            }
            if Data(lenientBase64: text) != nil {
                self = .base64
            } else if text.prefixMatch(of: #/\s*[A-Za-z][A-Za-z0-9_.-]{0,30}=/#) != nil {
                self = .form
            } else {
                return nil
            }
        }
    }
}
