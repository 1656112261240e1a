public import Foundation
import LatchkeyCore

/// The application certificate as a client handles it: bytes that it passes on to the player.
///
/// Public data, sent in clear. An X.509 certificate in DER form, perhaps followed by a bundle, or a certificate bundle
/// (`fps_certificate….bin`), whose format is not public. Therefore only data that is recognizably something else is refused.
///
/// Source: `Documentation/FairPlay.md` §12, `Documentation/Players.md` §3.13.
public struct ApplicationCertificate: Sendable, Hashable {
    /// The bytes, as the player wants them: a certificate in DER form, or a bundle.
    public let der: Data
    /// The format of bytes that do not begin with a DER certificate, such as `other data (1432 bytes)` for a bundle; `nil` if they do.
    /// Worth a warning only.
    package let unrecognizedFormat: String?

    /// - Parameter der: a certificate in DER form, or a certificate bundle.
    /// - Throws: `IntegrationError` `certificateMalformed` for bytes that are none: nothing, a web page, JSON, XML, PEM, text, PKCS#12,
    ///   a private key, or a certificate that is cut off.
    public init(der: Data) throws(IntegrationError) {
        if let mistaken = Self.mistakenForm(of: der) {
            throw .certificateMalformed("The application certificate is \(mistaken), not DER or a bundle.")
        }
        self.der = der
        unrecognizedFormat = DERHeader(der) == nil ? der.apparentFormat : nil
    }

    /// The format of bytes that are not a certificate; `nil` if they may be one.
    private static func mistakenForm(of der: Data) -> String? {
        guard let header = DERHeader(der) else {
            let format = der.apparentFormat
            guard format.hasPrefix("other data") else { return format }
            // Shorter than the modulus of the smallest key, or the start of a DER value.
            return der.count < 128 || der.first == 0x30 ? "cut off: \(der.count) bytes" : nil
        }
        guard header.end <= der.count else { return "cut off: \(der.count) bytes instead of \(header.end)" }
        // Both begin with a version number; a certificate begins with another sequence.
        switch [UInt8](der.dropFirst(header.count).prefix(3)) {
        case [0x02, 0x01, 0x03]: return "PKCS#12, which holds the private key"
        case [0x02, 0x01, 0x00], [0x02, 0x01, 0x01]: return "a private key, which belongs on the key server only"
        default: return nil
        }
    }
}

/// The head of a DER SEQUENCE with a length of one to three bytes, as a certificate has it.
private struct DERHeader {
    /// The bytes of the head itself.
    let count: Int
    /// Where the sequence ends.
    let end: Int

    init?(_ der: Data) {
        let head = [UInt8](der.prefix(5))
        guard head.count == 5, head[0] == 0x30, (0x81...0x83).contains(head[1]) else { return nil }
        count = 2 + Int(head[1] - 0x80)
        end = head[2..<count].reduce(0) { $0 << 8 | Int($1) } + count
    }
}

extension Data {
    /// The apparent format of bytes, for the reason of an error: `empty`, `an HTML page`, `JSON`, `PEM text`, `text` or `other data`.
    package var apparentFormat: String {
        if isEmpty { return "empty" }
        // Decoded leniently, to recognize a page in another character set, or one that is cut inside a character.
        let text = String(decoding: prefix(512), as: UTF8.self)
        let start = text.trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{feff}"])).lowercased()
        if start.isEmpty { return "blank" }
        if start.hasPrefix("<!doctype") || start.hasPrefix("<html") { return "an HTML page" }
        if start.hasPrefix("{") || start.hasPrefix("[") { return "JSON" }
        if start.hasPrefix("<") { return "XML" }
        if start.hasPrefix("-----begin") { return "PEM text" }
        let isText = text.unicodeScalars.dropLast(count > 512 ? 3 : 0).allSatisfy {
            $0.value >= 0x20 && $0 != "\u{fffd}" || "\t\r\n".unicodeScalars.contains($0)
        }
        return "\(isText ? "text" : "other data") (\(count) bytes)"
    }
}
