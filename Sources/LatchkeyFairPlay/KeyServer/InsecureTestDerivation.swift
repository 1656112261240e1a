public import LatchkeyCore

/// A replacement for Apple's function, for this project's test credentials only. It protects nothing.
///
/// The key is the first 16 bytes of HMAC-SHA-256 over `latchkey-test-only` and R2, with the application secret key. It is not
/// Apple's function and reveals nothing about it. It refuses every certificate without the test marker.
///
/// Source: `Documentation/FairPlay.md` §11.
public struct InsecureTestDerivation: ApplicationSecretDerivation {
    /// The warning that a server prints when it starts with this derivation.
    public static let warning =
        "InsecureTestDerivation is in use: test certificates only. It is not Apple's function and protects nothing."

    /// Makes the derivation.
    public init() {}

    public func derivedKey(r2: Secret, for credential: KeyServerCredential) throws(Diagnosis) -> Secret {
        guard let secret = credential.applicationSecret else { throw .noApplicationSecret }
        return try derivedKey(r2: r2, applicationSecret: secret, certificate: credential.certificate)
    }

    /// Derives the key without the private key, for the simulated device.
    package func derivedKey(
        r2: Secret, applicationSecret: Secret, certificate: FairPlayCertificate
    ) throws(Diagnosis) -> Secret {
        guard certificate.isTestCertificate else { throw .notTestCertificate }
        var message = Array(TestMarker.text.utf8)
        r2.withUnsafeBytes { message.append(contentsOf: $0) }
        let digest = applicationSecret.withUnsafeBytes { try? MessageDigest.hmacSHA256(key: $0, message) }
        guard var digest else { throw .wrongLength(0) }
        defer { erase(&digest) }
        return Secret(digest.prefix(16))
    }
}
