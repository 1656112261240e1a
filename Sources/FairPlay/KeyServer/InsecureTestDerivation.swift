public import LatchkeyCore

/// A stand-in for Apple's function, for this project's test credentials only. It protects nothing.
///
/// The first 16 bytes of HMAC-SHA-256 over `latchkey-test-only` and R2, under the application secret key. It is not
/// Apple's function and says nothing about it. It refuses every certificate without the test marker.
///
/// Source: `fps-protocol.md` §11.
public struct InsecureTestDerivation: ApplicationSecretDerivation {
    /// What a server prints when it starts with this derivation.
    public static let warning =
        "InsecureTestDerivation is in use: test certificates only. It is not Apple's function and protects nothing."

    /// Makes the derivation.
    public init() {}

    public func derivedKey(r2: Secret, for credential: KeyServerCredential) throws(DerivationError) -> Secret {
        guard let secret = credential.applicationSecret else { throw .noApplicationSecret }
        return try derivedKey(r2: r2, applicationSecret: secret, certificate: credential.certificate)
    }

    /// The same without the private key, as the simulated device needs it.
    package func derivedKey(
        r2: Secret, applicationSecret: Secret, certificate: ApplicationCertificate
    ) throws(DerivationError) -> Secret {
        guard certificate.isTestCertificate else { throw .notTestCertificate }
        var message = Array(TestMarker.text.utf8)
        r2.withUnsafeBytes { message.append(contentsOf: $0) }
        let digest = applicationSecret.withUnsafeBytes { try? MessageDigest.hmacSHA256(key: $0, message) }
        guard var digest else { throw .wrongLength(0) }
        defer { erase(&digest) }
        return Secret(digest.prefix(16))
    }
}
