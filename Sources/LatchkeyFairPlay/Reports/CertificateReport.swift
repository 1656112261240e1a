package import Foundation
package import LatchkeyCore

/// The contents of an application certificate and its problems, for `latchkey inspect certificate`.
package struct CertificateReport: Sendable, Encodable {
    /// The number of inspected bytes.
    package let byteCount: Int
    /// The subject.
    package let subject: String?
    /// The issuer.
    package let issuer: String?
    /// The SHA-1 of the certificate in DER form, in hexadecimal. An SPC identifies the certificate by it.
    package let sha1: String?
    /// The size of the RSA modulus.
    package let rsaBits: Int?
    /// The start of validity.
    package let notBefore: Date?
    /// The end of validity.
    package let notAfter: Date?
    /// Whether this is a test certificate of this project.
    package let isTestCertificate: Bool?
    /// Whether one of the given private keys belongs to the certificate; `nil` if none was given.
    package let matchesPrivateKey: Bool?
    /// The problems, and other remarks.
    package let problems: [InspectionFinding]

    private enum CodingKeys: String, CodingKey {
        case byteCount = "bytes"
        case rsaBits = "bits"
        case subject, issuer, sha1, notBefore, notAfter, isTestCertificate, matchesPrivateKey, problems
    }

    /// - Parameters:
    ///   - bytes: the bytes to inspect, in any format.
    ///   - privateKeysPEM: the private keys to try. Empty skips that check.
    ///   - date: the date for checking validity.
    package init(_ bytes: some Collection<UInt8>, privateKeysPEM: [Secret] = [], at date: Date) {
        let found = Result { () throws(CertificateError) in try FairPlayCertificate(bytes) }
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

extension FairPlayCertificate {
    /// Remarks about the certificate. They are only warnings: none is known to prevent a device from working.
    ///
    /// Source: `Documentation/FairPlay.md` §12.
    /// - Parameter date: the date for checking validity.
    package func findings(at date: Date) -> [InspectionFinding] {
        var findings: [InspectionFinding] = []
        if trailingByteCount > 0 {
            findings.append(
                InspectionFinding(
                    .warning, "bytesBehindCertificate", "\(trailingByteCount) bytes follow the certificate.",
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

    /// The reason that a private key does not match the certificate; `nil` if it does.
    fileprivate func pairError(with privateKeyPEM: Secret) -> CertificateError? {
        do throws(CertificateError) {
            _ = try KeyServerCredential(certificate: self, privateKeyPEM: privateKeyPEM, applicationSecret: nil)
            return nil
        } catch {
            return error
        }
    }
}
