internal import COpenSSL
import Foundation
import LatchkeyCore

extension CertificateError {
    /// Names what bytes are that are not a DER certificate.
    init(mistaken bytes: [UInt8]) {
        let (kind, what) = Self.recognize(bytes)
        self.init(kind: kind, reason: what)
    }

    private static func recognize(_ bytes: [UInt8]) -> (Kind, String) {
        if bytes.isEmpty { return (.empty, "The certificate has no bytes.") }
        if bytes.first == 0x30 { return recognizeDER(bytes) }
        let start = textStart(bytes)
        if start.hasPrefix("-----BEGIN") { return (.pem, "The certificate is PEM text (\(pemLabel(start))), not DER.") }
        if start.hasPrefix("<") { return (.html, "The certificate is a web page or XML of \(bytes.count) bytes.") }
        if start.hasPrefix("{") || start.hasPrefix("[") || start.hasPrefix("\"") {
            return (.json, "The certificate is a JSON document of \(bytes.count) bytes.")
        }
        if let text = String(bytes: bytes, encoding: .utf8), let decoded = Data(lenientBase64: text) {
            let inner = decoded.first == 0x30 ? ", of what may be a certificate" : ""
            return (.base64, "The certificate is base64 text\(inner).")
        }
        return (.notDER, "The \(bytes.count) bytes beginning \(bytes.prefix(4).hexString) are not a DER certificate.")
    }

    private static func recognizeDER(_ bytes: [UInt8]) -> (Kind, String) {
        defer { OpenSSLError.discardQueue() }
        let isPKCS12 = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let container = d2i_PKCS12(nil, &cursor, buffer.count) else { return false }
            PKCS12_free(container)
            return true
        }
        if isPKCS12 { return (.pkcs12, "The file is PKCS#12: a certificate packed with its private key.") }
        return (.notDER, "The \(bytes.count) bytes are DER, but cut short or not a certificate.")
    }

    /// The first bytes as text, behind a byte order mark and white space.
    private static func textStart(_ bytes: [UInt8]) -> String {
        var rest = bytes.prefix(256)
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        return String(decoding: rest, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func pemLabel(_ text: String) -> String {
        let label = text.dropFirst("-----BEGIN ".count).prefix { $0 != "-" && !$0.isNewline }
        return label.isEmpty ? "without a label" : String(label.prefix(40))
    }
}
