public import Foundation
public import LatchkeyCore

/// The files of a credentials folder.
enum CredentialsFile: String {
    case certificate = "certificate.der"
    case privateKey = "private-key.pem"
    case applicationSecret = "ask.hex"

    func read(in directory: URL) throws(CertificateError) -> Data {
        do { return try Data(contentsOf: directory.appendingPathComponent(rawValue)) } catch {
            throw CertificateError(
                kind: .fileUnreadable, reason: "\(rawValue) cannot be read in the credentials folder.")
        }
    }

    func exists(in directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: directory.appendingPathComponent(rawValue).path)
    }
}

extension KeyServerCredential {
    /// Reads a credentials folder: `certificate.der`, `private-key.pem` and, if it exists, `ask.hex`.
    /// - Throws: `fileUnreadable`, and the errors of the other initializers.
    public init(directory: URL) throws(CertificateError) {
        let certificate = try FairPlayCertificate(CredentialsFile.certificate.read(in: directory))
        let pem = try Secret(CredentialsFile.privateKey.read(in: directory))
        let file = CredentialsFile.applicationSecret
        let ask = file.exists(in: directory) ? try Self.applicationSecret(hex: file.read(in: directory)) : nil
        try self.init(certificate: certificate, privateKeyPEM: pem, applicationSecret: ask)
    }

    /// Reads an application secret key from its hexadecimal text.
    /// - Parameter hex: 32 digits, optionally with white space around them.
    /// - Throws: `applicationSecretUnreadable`.
    public static func applicationSecret(hex: Data) throws(CertificateError) -> Secret {
        let text = String(decoding: hex, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = Data(hexString: text), bytes.count == 16 else {
            throw CertificateError(
                kind: .applicationSecretUnreadable,
                reason: "The application secret key is \(text.utf8.count) characters, not 32 hexadecimal digits.")
        }
        return Secret(bytes)
    }
}
