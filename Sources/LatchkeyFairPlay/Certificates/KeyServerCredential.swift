public import LatchkeyCore

/// A key server's secrets for one application certificate: the private key and the application secret key (ASk).
///
/// Source: `Documentation/FairPlay.md` §1 and §12.
public struct KeyServerCredential: Sendable {
    /// The certificate that devices encrypt to.
    public let certificate: FairPlayCertificate
    /// The application secret key, 16 bytes; `nil` if the derivation does not need it.
    public let applicationSecret: Secret?

    /// The certificate's private key.
    package let key: any ApplicationKey

    /// - Parameters:
    ///   - certificate: the application certificate.
    ///   - privateKeyPEM: its RSA private key, PKCS#8 or PKCS#1 in PEM, without a password.
    ///   - applicationSecret: the ASk, 16 bytes; `nil` if the derivation does not need it.
    /// - Throws: `privateKeyUnreadable`, `privateKeyMismatch`, `applicationSecretUnreadable`.
    public init(
        certificate: FairPlayCertificate, privateKeyPEM: Secret, applicationSecret: Secret?
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
        certificate: FairPlayCertificate, privateKey: RSAPrivateKey, applicationSecret: Secret?
    ) throws(CertificateError) {
        guard certificate.matches(privateKey) else {
            throw CertificateError(
                kind: .privateKeyMismatch,
                reason: "The private key (\(privateKey.bits) bits) is not that of the certificate \(certificate).")
        }
        try applicationSecret?.checkApplicationSecretLength()
        self.certificate = certificate
        key = privateKey
        self.applicationSecret = applicationSecret
    }

    /// Decrypts a payload key that a device encrypted with the certificate: RSA-OAEP with SHA-1.
    ///
    /// For an `SPCOpener` of another container version. Safe for concurrent use.
    /// - Returns: the plaintext; `nil` on any failure.
    public func unwrap(_ wrapped: some Collection<UInt8>) -> Secret? {
        (try? key.decryptOAEP([UInt8](wrapped)[...])) ?? nil
    }
}

extension KeyServerCredential {
    /// Creates a credential whose private key is held elsewhere, for example in a token. Decrypts a test message encrypted to
    /// the certificate, to check that both match and that the key is usable.
    /// - Throws: `privateKeyMismatch`, `applicationSecretUnreadable`, and the key's own errors.
    package init(certificate: FairPlayCertificate, key: any ApplicationKey, applicationSecret: Secret?) throws {
        var generator = CryptographicGenerator()
        let message = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let wrapped = try certificate.encryptOAEP(message, using: &generator)
        guard try key.decryptOAEP(wrapped[...]) == Secret(message) else {
            throw CertificateError(
                kind: .privateKeyMismatch,
                reason: "The private key does not match the certificate \(certificate).")
        }
        try applicationSecret?.checkApplicationSecretLength()
        self.init(certificate: certificate, checked: key, applicationSecret: applicationSecret)
    }

    /// Returns the credential with another application secret key, 16 bytes, for a test vector.
    /// - Throws: `applicationSecretUnreadable`.
    package func replacing(applicationSecret: Secret?) throws(CertificateError) -> KeyServerCredential {
        try applicationSecret?.checkApplicationSecretLength()
        return KeyServerCredential(certificate: certificate, checked: key, applicationSecret: applicationSecret)
    }

    private init(certificate: FairPlayCertificate, checked key: any ApplicationKey, applicationSecret: Secret?) {
        self.certificate = certificate
        self.key = key
        self.applicationSecret = applicationSecret
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
