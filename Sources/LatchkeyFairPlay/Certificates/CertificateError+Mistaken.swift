internal import COpenSSL
import Foundation
import LatchkeyCore

extension CertificateError {
    /// Identifies bytes that are not a DER certificate.
    init(mistaken bytes: [UInt8]) {
        let count = bytes.count
        switch FormatGuess(of: bytes) {
        case _ where bytes.isEmpty: self.init(kind: .empty, reason: "The certificate has no bytes.")
        case _ where bytes.first == 0x30: self.init(mistakenDER: bytes)
        case .pem: self.init(kind: .pem, reason: "The certificate is PEM text, not DER.")
        case .html: self.init(kind: .html, reason: "The certificate is a web page or XML of \(count) bytes.")
        case .json: self.init(kind: .json, reason: "The certificate is a JSON document of \(count) bytes.")
        case .base64: self.init(kind: .base64, reason: "The certificate is base64 text of \(count) bytes.")
        case .certificate, .form, nil:
            let start = bytes.prefix(4).hexString
            self.init(kind: .notDER, reason: "The \(count) bytes beginning \(start) are not a DER certificate.")
        }
    }

    private init(mistakenDER bytes: [UInt8]) {
        let isPKCS12 = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let container = d2i_PKCS12(nil, &cursor, buffer.count) else { return false }
            PKCS12_free(container)
            return true
        }
        OpenSSLError.discardQueue()
        self.init(
            kind: isPKCS12 ? .pkcs12 : .notDER,
            reason: isPKCS12
                ? "The file is PKCS#12: a certificate packed with its private key."
                : "The \(bytes.count) bytes are DER, but cut short or not a certificate.")
    }
}
