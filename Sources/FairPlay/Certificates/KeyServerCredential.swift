public import LatchkeyCore

/// What a key server holds for one application certificate: the private key, and the application secret key (ASk).
///
/// Source: `fps-protocol.md` §1 and §12.
public struct KeyServerCredential: Sendable {
    /// The certificate that devices encrypt to.
    public let certificate: ApplicationCertificate
    /// The application secret key, 16 bytes; nil where the derivation needs none.
    public let applicationSecret: Secret?

    let privateKey: RSAPrivateKey

    /// - Parameters:
    ///   - certificate: the application certificate.
    ///   - privateKeyPEM: its RSA private key, PKCS#8 or PKCS#1 in PEM, without a password.
    ///   - applicationSecret: the ASk, 16 bytes; nil where the derivation needs none.
    /// - Throws: `privateKeyUnreadable`, `privateKeyMismatch`, `applicationSecretUnreadable`.
    public init(
        certificate: ApplicationCertificate, privateKeyPEM: Secret, applicationSecret: Secret?
    ) throws(CertificateError) {
        var pem = privateKeyPEM.withUnsafeBytes { [UInt8]($0) }
        defer { erase(&pem) }
        guard let privateKey = RSAPrivateKey(pem: pem) else {
            throw CertificateError(
                kind: .privateKeyUnreadable, reason: "The private key is not an RSA key in PEM without a password.")
        }
        try self.init(certificate: certificate, privateKey: privateKey, applicationSecret: applicationSecret)
    }

    init(
        certificate: ApplicationCertificate, privateKey: RSAPrivateKey, applicationSecret: Secret?
    ) throws(CertificateError) {
        guard certificate.matches(privateKey) else {
            throw CertificateError(
                kind: .privateKeyMismatch,
                reason: "The private key (\(privateKey.bits) bits) is not that of the certificate \(certificate).")
        }
        try applicationSecret?.checkApplicationSecretLength()
        self.certificate = certificate
        self.privateKey = privateKey
        self.applicationSecret = applicationSecret
    }

    /// Decrypts a payload key that a device encrypted to the certificate: RSA-OAEP with SHA-1.
    ///
    /// For an `SPCOpener` of another container version. Safe to call from any number of threads.
    /// - Returns: the plaintext; nil for whatever went wrong.
    public func unwrap(_ wrapped: some Collection<UInt8>) -> Secret? {
        privateKey.decryptOAEP([UInt8](wrapped)[...])
    }
}

extension Secret {
    /// Checks that an application secret key has 16 bytes.
    /// - Throws: `applicationSecretUnreadable`.
    package func checkApplicationSecretLength() throws(CertificateError) {
        guard count == 16 else {
            throw CertificateError(
                kind: .applicationSecretUnreadable, reason: "The application secret key has \(count) bytes, not 16.")
        }
    }
}
