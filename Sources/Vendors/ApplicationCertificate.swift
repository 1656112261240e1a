public import Foundation

/// The application certificate as a client handles it: DER bytes that it passes on to the player.
///
/// Public data, sent in clear. Only its outer shape is checked here; the license service's room looks inside.
///
/// Source: `fps-protocol.md` §12.
public struct ApplicationCertificate: Sendable, Hashable {
    /// An X.509 certificate in DER form, and whatever a certificate bundle has behind it.
    public let der: Data

    /// - Parameter der: bytes that begin with one DER sequence.
    /// - Throws: `IntegrationError` `certificateMalformed`, saying what the bytes look like instead.
    public init(der: Data) throws(IntegrationError) {
        guard Self.beginsWithSequence(der) else {
            throw .certificateMalformed("The application certificate is \(der.apparentFormat), not DER.")
        }
        self.der = der
    }

    /// Whether a DER SEQUENCE with a two- or three-byte length stands at the start and ends within the bytes.
    private static func beginsWithSequence(_ der: Data) -> Bool {
        let head = Array(der.prefix(5))
        guard head.count == 5, head[0] == 0x30 else { return false }
        switch head[1] {
        case 0x81: return Int(head[2]) + 3 <= der.count
        case 0x82: return (Int(head[2]) << 8 | Int(head[3])) + 4 <= der.count
        case 0x83: return (Int(head[2]) << 16 | Int(head[3]) << 8 | Int(head[4])) + 5 <= der.count
        default: return false
        }
    }
}

extension Data {
    /// What bytes seem to be, for the reason of an error: `empty`, `an HTML page`, `JSON`, `PEM text`, `text` or `other data`.
    package var apparentFormat: String {
        if isEmpty { return "empty" }
        // Decoded leniently: a page in another character set, or one cut inside a character, is a page all the same.
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
