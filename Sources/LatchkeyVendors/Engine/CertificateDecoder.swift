package import Foundation
import LatchkeyCore

/// How to read the application certificate in a reply.
///
/// Source: `Documentation/Vendors/README.md` §0 (the decoding ladder) and §23.8.
package enum CertificateDecoder: Sendable, Hashable {
    /// The body is the DER certificate.
    case der
    /// The body is base64 text of the DER certificate.
    case base64Text
    /// The certificate is base64 text at a path of a JSON reply.
    case json(String)
    /// DER, PEM or base64 text.
    case sniff
}

extension CertificateDecoder {
    package func certificate(from body: Data) throws(IntegrationError) -> ApplicationCertificate {
        guard !body.isEmpty else { throw .certificateMalformed("The certificate's reply is empty.") }
        switch self {
        case .der: return try ApplicationCertificate(der: body)
        case .base64Text: return try Self.decoded(String(decoding: body, as: UTF8.self))
        case .json(let path): return try Self.decoded(Self.text(at: path, in: body))
        case .sniff:
            // Base64 and PEM are text; a certificate in DER form and a bundle are not.
            if body.apparentFormat.hasPrefix("other data") { return try ApplicationCertificate(der: body) }
            return try Self.decoded(String(decoding: body, as: UTF8.self))
        }
    }

    private static func text(at path: String, in body: Data) throws(IntegrationError) -> String {
        guard let text = JSONReply(body)?.text(at: path) else {
            throw .certificateMalformed("The reply has no JSON text at \"\(path)\"; it is \(body.apparentFormat).")
        }
        return text
    }

    /// The content of the first `CERTIFICATE` block; `nil` if the text is not PEM.
    private static func pemBody(of text: String) -> String? {
        guard let begin = text.range(of: "-----BEGIN CERTIFICATE-----", options: .literal) else { return nil }
        return text[begin.upperBound...].range(of: "-----", options: .literal)
            .map { String(text[begin.upperBound..<$0.lowerBound]) }
    }

    private static func decoded(_ text: String) throws(IntegrationError) -> ApplicationCertificate {
        let base64 = pemBody(of: text) ?? text
        guard let der = Data(lenientBase64: base64) else {
            throw .certificateMalformed(
                "The application certificate is \(Data(text.utf8).apparentFormat), not a certificate.")
        }
        let certificate = try ApplicationCertificate(der: der)
        // Words are base64 too.
        if certificate.unrecognizedFormat != nil, base64.trimmingCharacters(in: .whitespacesAndNewlines).contains(" ") {
            throw .certificateMalformed("The application certificate is \(Data(text.utf8).apparentFormat), not base64.")
        }
        return certificate
    }
}
