public import LatchkeyCore

/// Why bytes are not an application certificate, or do not fit the private key beside them.
public struct CertificateError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// There are no bytes.
        case empty = "certificateEmpty"
        /// PEM text.
        case pem = "certificateIsPEM"
        /// Base64 text, of a certificate or of anything.
        case base64 = "certificateIsBase64"
        /// A PKCS#12 file.
        case pkcs12 = "certificateIsPKCS12"
        /// A web page, or XML.
        case html = "certificateIsHTML"
        /// A JSON document.
        case json = "certificateIsJSON"
        /// None of these, and no certificate.
        case notDER = "certificateNotDER"
        /// A key that is not RSA with 1024 or 2048 bits.
        case unsupportedKey = "certificateKeyUnsupported"
        /// A certificate without the marker of the test credentials, where only those are taken.
        case notTestCertificate = "certificateNotForTests"
        /// A private key that is none, or is locked by a password.
        case privateKeyUnreadable = "privateKeyUnreadable"
        /// A private key of another certificate.
        case privateKeyMismatch = "privateKeyMismatch"
        /// An application secret key that is not 16 bytes, or not 32 hexadecimal digits.
        case applicationSecretUnreadable = "applicationSecretUnreadable"
        /// A credentials folder without a file, or with one that cannot be read or written.
        case fileUnreadable = "credentialsFileUnreadable"
    }

    /// What kind of error it is.
    public let kind: Kind
    public let reason: String
    public var code: String { kind.rawValue }

    /// - Parameters:
    ///   - kind: what kind of error it is.
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
        case .privateKeyMismatch: "Put the private key beside the certificate that was issued for it."
        case .applicationSecretUnreadable: "Give the application secret key as 32 hexadecimal digits."
        case .fileUnreadable: "Check the folder, the file names and the permissions."
        }
    }
}
