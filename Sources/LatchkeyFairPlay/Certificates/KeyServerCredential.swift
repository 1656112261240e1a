public import LatchkeyCore

/// A key server's secrets for one application certificate: the private key and the application secret key (ASk).
///
/// Source: `Documentation/FairPlay.md` §1 and §12.
public struct KeyServerCredential: Sendable {
    /// The certificate that devices encrypt to.
    public let certificate: FairPlayCertificate
    /// The application secret key, 16 bytes; `nil` if the derivation does not need it.
    public let applicationSecret: Secret?

    let privateKey: RSAPrivateKey

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
        self.privateKey = privateKey
        self.applicationSecret = applicationSecret
    }

    /// Decrypts a payload key that a device encrypted with the certificate: RSA-OAEP with SHA-1.
    ///
    /// For an `SPCOpener` of another container version. Safe to call from any thread.
    /// - Returns: the plaintext; `nil` on any failure.
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
