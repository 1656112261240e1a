public import Foundation
import LatchkeyCore

/// A FairPlay application certificate: what a device needs to make an SPC for one key server.
///
/// Public data, X.509 in DER form, RSA with 1024 or 2048 bits. Bytes behind the certificate may belong to a bundle and
/// are kept; the fingerprint is over the certificate alone.
///
/// Source: `fps-protocol.md` §12.
public struct ApplicationCertificate: Sendable {
    /// The certificate in DER form, without anything behind it.
    public let der: Data
    /// How many bytes stood behind the certificate.
    public let trailingByteCount: Int
    /// The SHA-1 over the certificate in DER form, 20 bytes: how an SPC names its key server.
    public var fingerprint: Data { Data(fingerprintBytes) }
    /// Whom the certificate was issued to, as text in the order of RFC 2253.
    public let subject: String
    /// Who issued the certificate, as text in the order of RFC 2253.
    public let issuer: String
    /// The size of the RSA modulus: 1024 or 2048.
    public let rsaBits: Int
    /// When the certificate begins to be valid; nil where it does not say.
    public let notBefore: Date?
    /// When the certificate ceases to be valid; nil where it does not say. Devices are reported not to care.
    public let notAfter: Date?
    /// Whether it is one of this project's test certificates: self-signed, marked, for `O=Latchkey Test`, not by Apple.
    ///
    /// Only with these do the simulated device and the test derivation work.
    public let isTestCertificate: Bool

    let x509: X509Certificate
    /// The fingerprint as it is compared for every SPC.
    let fingerprintBytes: [UInt8]

    /// - Parameter bytes: a certificate in DER form.
    /// - Throws: a `CertificateError` that names what the bytes are instead: nothing, PEM, base64, PKCS#12, a web page,
    ///   JSON, or something unknown; or a key of another kind or size.
    public init(_ bytes: some Collection<UInt8>) throws(CertificateError) {
        let bytes = [UInt8](bytes)
        guard let x509 = X509Certificate(der: bytes) else { throw CertificateError(mistaken: bytes) }
        guard let bits = x509.rsaBits, bits == 1024 || bits == 2048 else {
            let size = x509.rsaBits.map { "RSA with \($0) bits" } ?? "not RSA"
            throw CertificateError(kind: .unsupportedKey, reason: "The certificate's key is \(size).")
        }
        let der = Array(bytes.prefix(x509.encodedCount))
        guard let fingerprint = try? MessageDigest.sha1(der) else {
            throw CertificateError(kind: .notDER, reason: "libcrypto could not digest the certificate.")
        }
        self.x509 = x509
        self.der = Data(der)
        fingerprintBytes = fingerprint
        trailingByteCount = bytes.count - der.count
        subject = x509.subject
        issuer = x509.issuer
        rsaBits = bits
        notBefore = x509.notBefore
        notAfter = x509.notAfter
        isTestCertificate = TestMarker.isCarried(by: x509)
    }

    /// Whether a private key belongs to the certificate: the moduli are equal.
    package func matches(_ privateKey: RSAPrivateKey) -> Bool { x509.matches(privateKey) }
}

extension ApplicationCertificate: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprintBytes) }
}

extension ApplicationCertificate: CustomStringConvertible {
    public var description: String { "\(subject), RSA \(rsaBits), SHA-1 \(fingerprint.hexString)" }
}

/// What makes a certificate one of the test credentials.
///
/// Source: `fps-protocol.md` §11, test credentials.
enum TestMarker {
    static let oid = "2.25.196799141189204976576853509522163122608"
    static let organization = "Latchkey Test"
    static let text = "latchkey-test-only"
    /// The DER UTF8String of the text, 20 bytes.
    static let value: [UInt8] = [0x0c, 0x12] + Array(text.utf8)

    static func isCarried(by certificate: X509Certificate) -> Bool {
        guard let marker = certificate.extensionValue(oid), !marker.isCritical, marker.value == value else {
            return false
        }
        return !certificate.issuer.contains("Apple") && certificate.subject == "O=\(organization)"
            && certificate.isSelfSigned
    }
}
