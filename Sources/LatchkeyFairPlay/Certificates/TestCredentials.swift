internal import COpenSSL
public import Foundation
public import LatchkeyCore

/// New credentials for tests and demonstrations: a marked self-signed certificate, its key, and an ASk.
///
/// No Apple device accepts them, and they contain nothing that Apple issued.
///
/// Source: `Documentation/FairPlay.md` §11, test credentials.
public struct TestCredentials: Sendable {
    /// The credentials for the key server, including the application secret key.
    public let credential: KeyServerCredential
    /// The application secret key, 16 bytes. The simulated device also needs it.
    public let applicationSecret: Secret
    /// The private key of the certificate.
    let privateKey: RSAPrivateKey

    /// Makes new credentials, with libcrypto's own randomness.
    /// - Parameters:
    ///   - bits: 1024 or 2048.
    ///   - date: the start of the certificate's validity, which lasts ten years.
    /// - Throws: `unsupportedKey` for other sizes, or if libcrypto fails.
    public static func make(bits: Int, date: Date = Date()) throws(CertificateError) -> TestCredentials {
        guard bits == 1024 || bits == 2048 else {
            throw CertificateError(kind: .unsupportedKey, reason: "Test credentials cannot have \(bits) bits.")
        }
        do throws(OpenSSLError) {
            let key = try RSAPrivateKey(bits: bits)
            var ask = [UInt8](repeating: 0, count: 16)
            guard RAND_bytes(&ask, 16) == 1 else { throw OpenSSLError(in: "RAND_bytes") }
            let der = try TestCertificate.make(for: key, notBefore: date)
            return try make(der: der, key: key, applicationSecret: Secret(ask))
        } catch {
            throw CertificateError(kind: .unsupportedKey, reason: error.reason)
        }
    }

    private static func make(
        der: [UInt8], key: RSAPrivateKey, applicationSecret: Secret
    ) throws(OpenSSLError) -> TestCredentials {
        do throws(CertificateError) {
            let credential = try KeyServerCredential(
                certificate: FairPlayCertificate(der), privateKey: key, applicationSecret: applicationSecret)
            return TestCredentials(credential: credential, applicationSecret: applicationSecret, privateKey: key)
        } catch {
            throw OpenSSLError(in: "making a certificate: \(error.reason)")
        }
    }

    /// Writes `certificate.der`, `private-key.pem` and `ask.hex`. The last two have mode 0600.
    /// - Parameter directory: the folder, which is created if it does not exist.
    /// - Throws: `fileUnreadable`.
    public func write(to directory: URL) throws(CertificateError) {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let path = { (file: CredentialsFile) in directory.appendingPathComponent(file.rawValue) }
            try credential.certificate.der.write(to: path(.certificate))
            try PrivateFile.write(privateKey.pem(), to: path(.privateKey))
            let hex = applicationSecret.withUnsafeBytes { $0.hexString }
            try PrivateFile.write(Secret(hex + "\n"), to: path(.applicationSecret))
        } catch {
            throw CertificateError(
                kind: .fileUnreadable, reason: "The credentials cannot be written: \(error.localizedDescription)")
        }
    }
}
