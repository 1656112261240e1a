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
    /// - Parameter found: the recognized form of the body, if known.
    package func certificate(
        from body: Data, _ found: Recognition? = nil
    ) throws(IntegrationError) -> ApplicationCertificate {
        let found = found ?? Recognition(body)
        guard found != .empty else { throw .certificateMalformed("The certificate's reply is empty.") }
        switch self {
        case .der: return try ApplicationCertificate(body, found, form: found, in: body, from: .reply)
        case .base64Text:
            guard !found.isBinary else {
                throw .certificateMalformed("The reply should be base64 text, and is \(found.described(body)).")
            }
            return try Self.decoded(body, found, in: body, found)
        case .json(let path):
            guard let text = JSONReply(body)?.text(at: path) else {
                throw .certificateMalformed(
                    "The reply has no JSON text at \"\(path)\"; it is \(found.described(body)).")
            }
            return try Self.decoded(Data(text.utf8), Recognition(text), in: body, found)
        case .sniff: return try Self.decoded(body, found, in: body, found)
        }
    }

    /// Decodes the certificate in a text by the text's recognized form.
    /// - Parameters:
    ///   - text: the text, or the bytes of the certificate itself.
    ///   - found: the form of the text.
    ///   - body: the whole reply.
    ///   - whole: the form of the reply, for an error.
    private static func decoded(
        _ text: Data, _ found: Recognition, in body: Data, _ whole: Recognition
    ) throws(IntegrationError) -> ApplicationCertificate {
        let (der, inside): (Data?, Recognition?) =
            switch found {
            case .pem: (Recognition.certificate(inPEM: String(decoding: text, as: UTF8.self)), nil)
            case .base64(let inside): (Data(lenientBase64: String(decoding: text, as: UTF8.self)), inside)
            default: (text, found)
            }
        do {
            return try ApplicationCertificate(
                der ?? text, inside ?? Recognition(der ?? text), form: found, in: text, from: .reply)
        } catch  where whole.isTelling && whole != found {
            throw IntegrationError(
                .certificateMalformed, whole.described(body), inPlaceOf: "certificate", from: .reply)
        }
    }
}
