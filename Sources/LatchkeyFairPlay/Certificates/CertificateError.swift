public import LatchkeyCore

/// The reason that bytes are not an application certificate, or that a certificate and a private key do not match.
public struct CertificateError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// The input is empty.
        case empty = "certificateEmpty"
        /// PEM text.
        case pem = "certificateIsPEM"
        /// Base64 text, whether or not it encodes a certificate.
        case base64 = "certificateIsBase64"
        /// A PKCS#12 file.
        case pkcs12 = "certificateIsPKCS12"
        /// A web page or XML.
        case html = "certificateIsHTML"
        /// A JSON document.
        case json = "certificateIsJSON"
        /// An unknown format.
        case notDER = "certificateNotDER"
        /// A key that is not RSA with 1024 or 2048 bits.
        case unsupportedKey = "certificateKeyUnsupported"
        /// A certificate without the test marker, where only test certificates are accepted.
        case notTestCertificate = "certificateNotForTests"
        /// A private key that cannot be parsed or is protected by a password.
        case privateKeyUnreadable = "privateKeyUnreadable"
        /// A private key that belongs to another certificate.
        case privateKeyMismatch = "privateKeyMismatch"
        /// An application secret key that is not 16 bytes or 32 hexadecimal digits.
        case applicationSecretUnreadable = "applicationSecretUnreadable"
        /// A file in a credentials folder that is missing or cannot be read or written.
        case fileUnreadable = "credentialsFileUnreadable"
    }

    /// The kind of error.
    public let kind: Kind
    public let reason: String
    public var code: String { kind.rawValue }

    /// - Parameters:
    ///   - kind: the kind of error.
    ///   - reason: what happened, without secrets.
    public init(kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
    }

    public var remedy: String {
        switch kind {
        case .empty: "Check the certificate's address and the file."
        case .pem: "Convert it with `openssl x509 -in FILE -outform der -out certificate.der`."
        case .base64: "Decode the base64 text first, or have the service send the bytes themselves."
        case .pkcs12: "Take the certificate out of the PKCS#12 file and keep its private key on the key server only."
        case .html: "Open the certificate's address in a browser: it shows a page, often an error or a sign-in page."
        case .json: "Read the JSON document: it is an error message, or has the certificate as base64 in a field."
        case .notDER: "Get the application certificate again, in DER form."
        case .unsupportedKey: "Use a FairPlay application certificate, RSA with 1024 or 2048 bits."
        case .notTestCertificate: "Make test credentials with `latchkey credentials`."
        case .privateKeyUnreadable: "Give the RSA private key as PEM without a password."
        case .privateKeyMismatch: "Put the private key next to the certificate that was issued for it."
        case .applicationSecretUnreadable: "Give the application secret key as 32 hexadecimal digits."
        case .fileUnreadable: "Check the folder, the file names and the permissions."
        }
    }
}
