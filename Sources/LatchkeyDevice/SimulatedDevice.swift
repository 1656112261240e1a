public import Foundation
public import LatchkeyCore
public import LatchkeyFairPlay

/// An Apple device as a key server sees it, for test credentials only. It makes SPCs and opens the CKCs that answer them.
///
///     exchange(for:) ──▶ KeyExchange ──spc──▶ key server ──ckc──▶ KeyExchange.open ──▶ DeviceKey
///
/// The device keeps no state; each `KeyExchange` holds one SPC's secrets. It must never obtain a key from a real service. Two
/// properties ensure that: it accepts only certificates with the test marker, and it encrypts its session bytes with the test
/// derivation, so that a real key server's integrity check fails.
///
/// Source: `Documentation/FairPlay.md` §11, simulated device.
public struct SimulatedDevice: Sendable {
    /// The default identifier of a device.
    public static let standardIdentifier = Secret("latchkey-simulator-1")

    /// The certificate to which it encrypts its SPCs.
    public let certificate: FairPlayCertificate
    /// The device's identifier (HU), 20 bytes. It is the same in all its SPCs.
    public let identifier: Secret

    let applicationSecret: Secret
    let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - certificate: a test certificate.
    ///   - applicationSecret: its application secret key (ASk), 16 bytes.
    ///   - identifier: 20 bytes that identify the device.
    ///   - timekeeper: provides the date of SPCs and measures leases.
    /// - Throws: `certificateNotForTests`; `applicationSecretUnreadable` for an ASk that is not 16 bytes or an identifier that is not 20.
    public init(
        certificate: FairPlayCertificate, applicationSecret: Secret,
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

    /// Reads `certificate.der` and `ask.hex` from a folder that `latchkey credentials` wrote. It needs no private key.
    /// - Throws: a `CertificateError`, for example if a file is missing.
    public init(directory: URL, timekeeper: any Timekeeper = SystemTimekeeper()) throws(CertificateError) {
        let read = { (name: String) throws(CertificateError) -> Data in
            do { return try Data(contentsOf: directory.appendingPathComponent(name)) } catch {
                throw CertificateError(kind: .fileUnreadable, reason: "\(name) cannot be read in the folder.")
            }
        }
        try self.init(
            certificate: FairPlayCertificate(read("certificate.der")),
            applicationSecret: KeyServerCredential.applicationSecret(hex: read("ask.hex")), timekeeper: timekeeper)
    }

    /// Makes an SPC.
    /// - Parameters:
    ///   - identifier: the content identifier, 2 to 200 bytes.
    ///   - options: the other contents of the SPC.
    ///   - generator: the source of all random bytes. The same generator gives the same SPC.
    /// - Returns: the SPC, with the secrets that open its CKC.
    public func exchange(
        for identifier: ContentIdentifier, options: SPCOptions = SPCOptions(),
        using generator: inout some RandomNumberGenerator
    ) throws(DeviceError) -> KeyExchange {
        if identifier.bytes.isEmpty {
            throw .contentIdentifierMissing
        }
        guard 2...200 ~= identifier.bytes.count else {
            throw .contentIdentifierLength(identifier.bytes.count)
        }
        guard !options.protocolVersions.isEmpty else {
            throw .noProtocolVersion
        }
        do throws(OpenSSLError) {
            return try SPCEncoder(device: self, identifier: identifier, options: options).exchange(using: &generator)
        } catch {
            throw DeviceError(error, .makingSPC)
        }
    }
}
