public import Foundation
import LatchkeyCore

/// A FairPlay application certificate. Devices encrypt SPCs to it, for one key server.
///
/// Public data: X.509 in DER form, RSA with 1024 or 2048 bits. Trailing bytes may belong to a certificate bundle and are
/// accepted; the fingerprint covers the certificate alone.
///
/// Source: `Documentation/FairPlay.md` §12.
public struct FairPlayCertificate: Sendable {
    /// The certificate in DER form, without trailing bytes.
    public let der: Data
    /// The number of trailing bytes.
    public let trailingByteCount: Int
    /// The SHA-1 of the certificate in DER form, 20 bytes. An SPC identifies its key server by it.
    public var fingerprint: Data { Data(fingerprintBytes) }
    /// The subject, in the text form of RFC 2253.
    public let subject: String
    /// The issuer, in the text form of RFC 2253.
    public let issuer: String
    /// The size of the RSA modulus: 1024 or 2048.
    public let rsaBits: Int
    /// The start of validity; `nil` if absent.
    public let notBefore: Date?
    /// The end of validity; `nil` if absent. Devices reportedly ignore it.
    public let notAfter: Date?
    /// Whether this is a test certificate of this project: self-signed, marked, issued to `O=Latchkey Test` and not by Apple.
    ///
    /// The simulated device and the test derivation accept only such certificates.
    public let isTestCertificate: Bool

    let x509: X509Certificate
    /// The fingerprint as compared for every SPC.
    let fingerprintBytes: [UInt8]

    /// - Parameter bytes: a certificate in DER form.
    /// - Throws: a `CertificateError` that names the actual format (empty, PEM, base64, PKCS#12, a web page, JSON, or
    ///   unknown), or an unsupported key type or size.
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

    /// Whether a private key belongs to the certificate.
    package func matches(_ privateKey: RSAPrivateKey) -> Bool { x509.matches(privateKey) }
}

extension FairPlayCertificate: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprintBytes) }
}

extension FairPlayCertificate: CustomStringConvertible {
    public var description: String { "\(subject), RSA \(rsaBits), SHA-1 \(fingerprint.hexString)" }
}

/// The marker of test certificates.
///
/// Source: `Documentation/FairPlay.md` §11, test credentials.
enum TestMarker {
    static let oid = "2.25.196799141189204976576853509522163122608"
    static let organization = "Latchkey Test"
    static let text = "latchkey-test-only"
    /// The text as a DER UTF8String, 20 bytes.
    static let value: [UInt8] = [0x0c, 0x12] + Array(text.utf8)

    static func isCarried(by certificate: X509Certificate) -> Bool {
        guard let marker = certificate.extensionValue(oid), !marker.isCritical, marker.value == value else {
            return false
        }
        return !certificate.issuer.contains("Apple") && certificate.subject == "O=\(organization)"
            && certificate.isSelfSigned
    }
}
