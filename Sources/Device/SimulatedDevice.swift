public import Foundation
public import LatchkeyCore
public import LatchkeyFairPlay

/// An Apple device as a key server sees it, for test credentials only.
///
/// It makes SPCs and opens the CKCs that answer them. It works only with a marked test certificate, so it can take no
/// key from a real service: a real key server cannot read its session bytes, and it cannot make any for a real
/// certificate.
///
/// Source: `fps-protocol.md` §11, simulated device.
public struct SimulatedDevice: Sendable {
    /// The identifier of a device that was given none.
    public static let standardIdentifier = Secret("latchkey-simulator-1")

    /// The certificate that its SPCs are encrypted to.
    public let certificate: ApplicationCertificate
    /// The device's identifier (HU), 20 bytes; the same in all its SPCs.
    public let identifier: Secret

    let applicationSecret: Secret
    let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - certificate: a test certificate.
    ///   - applicationSecret: its application secret key (ASk), 16 bytes.
    ///   - identifier: 20 bytes that tell devices apart.
    ///   - timekeeper: gives the date of SPCs and counts down leases.
    /// - Throws: `certificateNotForTests`; `applicationSecretUnreadable` for an ASk that is not 16 bytes.
    public init(
        certificate: ApplicationCertificate, applicationSecret: Secret,
        identifier: Secret = Self.standardIdentifier, timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(CertificateError) {
        guard certificate.isTestCertificate else {
            throw CertificateError(
                kind: .notTestCertificate, reason: "The simulated device does not take the certificate \(certificate).")
        }
        try applicationSecret.checkApplicationSecretLength()
        guard identifier.count == 20 else {
            throw CertificateError(
                kind: .applicationSecretUnreadable,
                reason: "The device's identifier has \(identifier.count) bytes, not 20.")
        }
        self.certificate = certificate
        self.applicationSecret = applicationSecret
        self.identifier = identifier
        self.timekeeper = timekeeper
    }

    /// Reads `certificate.der` and `ask.hex` of a folder that `latchkey credentials` wrote. No private key is needed.
    /// - Throws: a `CertificateError`, also when a file is missing.
    public init(directory: URL, timekeeper: any Timekeeper = SystemTimekeeper()) throws(CertificateError) {
        let read = { (name: String) throws(CertificateError) -> Data in
            do { return try Data(contentsOf: directory.appendingPathComponent(name)) } catch {
                throw CertificateError(kind: .fileUnreadable, reason: "\(name) cannot be read in the folder.")
            }
        }
        try self.init(
            certificate: ApplicationCertificate(read("certificate.der")),
            applicationSecret: KeyServerCredential.applicationSecret(hex: read("ask.hex")), timekeeper: timekeeper)
    }

    /// Makes an SPC.
    /// - Parameters:
    ///   - identifier: what the app names the key by, 2 to 200 bytes.
    ///   - options: what else the SPC says.
    ///   - generator: gives every random byte; the same one gives the same SPC.
    /// - Returns: the exchange: the SPC, and what is needed to open its CKC.
    public func exchange(
        for identifier: ContentIdentifier, options: SPCOptions = SPCOptions(),
        using generator: inout some RandomNumberGenerator
    ) throws(SPCError) -> KeyExchange {
        if identifier.bytes.isEmpty {
            throw SPCError(kind: .contentIdentifierMissing, reason: "The content identifier is empty.")
        }
        guard 2...200 ~= identifier.bytes.count else {
            throw SPCError(
                kind: .contentIdentifierLength, reason: "The content identifier has \(identifier.bytes.count) bytes.")
        }
        guard !options.protocolVersions.isEmpty else {
            throw SPCError(kind: .noProtocolVersion, reason: "The list of protocol versions is empty.")
        }
        do throws(OpenSSLError) {
            return try SPCEncoder(device: self, identifier: identifier, options: options).exchange(using: &generator)
        } catch {
            throw SPCError(kind: .cryptography, reason: error.reason)
        }
    }
}
