public import Foundation
public import LatchkeyCore

/// What is in an application certificate and what is wrong with it, for `latchkey inspect certificate`.
public struct CertificateReport: Sendable, Encodable {
    /// How many bytes were inspected.
    public let byteCount: Int
    /// Whom the certificate was issued to.
    public let subject: String?
    /// Who issued it.
    public let issuer: String?
    /// The SHA-1 over the certificate in DER form, in hexadecimal: how an SPC names it.
    public let sha1: String?
    /// The size of the RSA modulus.
    public let rsaBits: Int?
    /// When it begins to be valid.
    public let notBefore: Date?
    /// When it ceases to be valid.
    public let notAfter: Date?
    /// Whether it is one of this project's test certificates.
    public let isTestCertificate: Bool?
    /// Whether its own private key is among those given; nil where none was given.
    public let matchesPrivateKey: Bool?
    /// What is wrong with it, and what is worth knowing.
    public let problems: [InspectionFinding]

    private enum CodingKeys: String, CodingKey {
        case byteCount = "bytes"
        case rsaBits = "bits"
        case subject, issuer, sha1, notBefore, notAfter, isTestCertificate, matchesPrivateKey, problems
    }

    /// - Parameters:
    ///   - bytes: the bytes to be inspected, of any kind.
    ///   - privateKeysPEM: the private keys among which its own should be; empty leaves that open.
    ///   - date: the date that validity is judged at.
    public init(_ bytes: some Collection<UInt8>, privateKeysPEM: [Secret] = [], at date: Date) {
        let found = Result { () throws(CertificateError) in try ApplicationCertificate(bytes) }
        let certificate = try? found.get()
        byteCount = bytes.count
        subject = certificate?.subject
        issuer = certificate?.issuer
        sha1 = certificate?.fingerprint.hexString
        rsaBits = certificate?.rsaBits
        notBefore = certificate?.notBefore
        notAfter = certificate?.notAfter
        isTestCertificate = certificate?.isTestCertificate
        let pairErrors = certificate.map { privateKeysPEM.map($0.pairError(with:)) } ?? []
        let matches = pairErrors.contains { $0 == nil }
        matchesPrivateKey = pairErrors.isEmpty ? nil : matches
        var problems = certificate?.findings(at: date) ?? []
        if case .failure(let error) = found { problems.append(InspectionFinding(error)) }
        if !matches, let pairError = pairErrors.first ?? nil { problems.append(InspectionFinding(pairError)) }
        self.problems = problems
    }
}

extension ApplicationCertificate {
    /// What is worth knowing about the certificate. Warnings only: none of it is known to keep a device from working.
    ///
    /// Source: `fps-protocol.md` §12.
    /// - Parameter date: the date that validity is judged at.
    public func findings(at date: Date) -> [InspectionFinding] {
        var findings: [InspectionFinding] = []
        if trailingByteCount > 0 {
            findings.append(
                InspectionFinding(
                    .warning, "bytesBehindCertificate", "\(trailingByteCount) bytes stand behind the certificate.",
                    "Check that the file is the certificate bundle that Apple issued, or cut it."))
        }
        if let notAfter, date > notAfter {
            findings.append(
                InspectionFinding(
                    .warning, "certificateExpired", "The certificate's dates ended on \(notAfter.formatted(.iso8601)).",
                    "Renew it in time; devices are reported not to check its dates."))
        }
        if let notBefore, date < notBefore {
            findings.append(
                InspectionFinding(
                    .warning, "certificateNotYetValid",
                    "The certificate's dates begin on \(notBefore.formatted(.iso8601)).", "Check the clock."))
        }
        if !isTestCertificate, !issuer.contains("Apple Key Services Certification Authority") {
            findings.append(
                InspectionFinding(
                    .warning, "unusualIssuer", "The certificate was issued by \(issuer).",
                    "Check that it is a FairPlay application certificate for production."))
        }
        return findings
    }

    /// Why a private key is not the certificate's; nil where it is.
    fileprivate func pairError(with privateKeyPEM: Secret) -> CertificateError? {
        do throws(CertificateError) {
            _ = try KeyServerCredential(certificate: self, privateKeyPEM: privateKeyPEM, applicationSecret: nil)
            return nil
        } catch {
            return error
        }
    }
}
