import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite struct FairPlayCertificateTests {
    @Test(arguments: [1024, 2048])
    func `test credentials make a certificate with accurate contents`(bits: Int) throws {
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        let certificate = try TestCredentials.make(bits: bits, date: date).credential.certificate
        #expect(certificate.subject == "O=Latchkey Test")
        #expect(certificate.issuer == "O=Latchkey Test")
        #expect(certificate.rsaBits == bits)
        #expect(certificate.notBefore == date)
        #expect(certificate.notAfter == date.addingTimeInterval(3_652 * 86_400))
        #expect(certificate.isTestCertificate)
        let marker = try #require(certificate.x509.extensionValue("2.25.196799141189204976576853509522163122608"))
        #expect(marker.isCritical == false)
        #expect(marker.value.hexString == "0c126c617463686b65792d746573742d6f6e6c79")
    }

    @Test func `the openssl command's certificate is also read`() throws {
        let certificate = try FairPlayCertificate(CertificateFixture.marked)
        #expect(certificate.isTestCertificate)
        #expect(certificate.rsaBits == 1024)
        #expect(try certificate.fingerprint == Data(MessageDigest.sha1(CertificateFixture.marked)))
    }

    @Test(arguments: [
        CertificateFixture.critical, CertificateFixture.otherText, CertificateFixture.unmarked,
        CertificateFixture.byApple, CertificateFixture.foreign,
    ])
    func `only a marked self-signed certificate is for tests`(der: [UInt8]) throws {
        #expect(try !FairPlayCertificate(der).isTestCertificate)
    }

    @Test(arguments: [
        (Data(), CertificateError.Kind.empty),
        (Data("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".utf8), .pem),
        (Data("\u{feff}\n<!DOCTYPE html><html>".utf8), .html),
        (Data("<?xml version=\"1.0\"?><Error/>".utf8), .html),
        (Data("{\"error\": \"denied\"}".utf8), .json),
        (Data(CertificateFixture.marked).base64EncodedData(), .base64),
        (Data(CertificateFixture.pkcs12), .pkcs12),
        (Data(CertificateFixture.marked.dropLast()), .notDER),
        (Data([0x00, 0xff, 0x17]), .notDER),
        (Data(CertificateFixture.rsa1536), .unsupportedKey),
        (Data(CertificateFixture.elliptic), .unsupportedKey),
    ])
    func `bytes that are not a certificate are named`(bytes: Data, kind: CertificateError.Kind) {
        let error = #expect(throws: CertificateError.self) { try FairPlayCertificate(bytes) }
        #expect(error?.kind == kind)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test func `a certificate cut at any byte is refused`() {
        for count in 0..<CertificateFixture.marked.count {
            #expect(throws: CertificateError.self) {
                try FairPlayCertificate(CertificateFixture.marked.prefix(count))
            }
        }
    }

    @Test func `bytes after the certificate do not change its fingerprint`() throws {
        let bundle = try FairPlayCertificate(CertificateFixture.marked + [1, 2, 3])
        #expect(bundle.trailingByteCount == 3)
        #expect(try bundle.fingerprint == FairPlayCertificate(CertificateFixture.marked).fingerprint)
        let codes = bundle.findings(at: Date(timeIntervalSince1970: 1_800_000_000)).map(\.code)
        #expect(codes == ["bytesBehindCertificate"])
    }

    @Test(arguments: [
        (1_500_000_000, ["certificateNotYetValid", "unusualIssuer"]), (1_800_000_000, ["unusualIssuer"]),
        (2_500_000_000, ["certificateExpired", "unusualIssuer"]),
    ])
    func `dates and an unusual issuer are warnings`(seconds: Double, codes: [String]) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let findings = try FairPlayCertificate(CertificateFixture.unmarked).findings(at: date)
        #expect(findings.map(\.code) == codes)
        #expect(findings.allSatisfy { $0.severity == .warning })
    }
}
