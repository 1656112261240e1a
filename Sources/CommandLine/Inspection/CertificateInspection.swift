import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// What an application certificate says.
struct CertificateInspection: Inspection {
    let kind = "certificate"
    let subject: String
    let issuer: String
    let bits: Int
    let sha1: String
    let notBefore: Date?
    let notAfter: Date?
    let isTestCertificate: Bool
    /// Whether the credentials belong to it; absent where none were given.
    let matchesCredentials: Bool?
    let warnings: [String]

    /// - Throws: `CertificateError`, which names what the bytes are instead.
    init(_ bytes: Data, credentials: [KeyServerCredential], now: Date) throws {
        let certificate = try ApplicationCertificate(bytes)
        subject = certificate.subject
        issuer = certificate.issuer
        bits = certificate.rsaBits
        sha1 = certificate.fingerprint.hexString
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        isTestCertificate = certificate.isTestCertificate
        let matches = credentials.contains { $0.certificate == certificate }
        matchesCredentials = credentials.isEmpty ? nil : matches
        var warnings: [String] = []
        if certificate.trailingByteCount > 0 {
            warnings.append("\(certificate.trailingByteCount) bytes follow the certificate; they may be a bundle's.")
        }
        if let end = certificate.notAfter, end < now {
            warnings.append("It expired. Devices are reported to take it all the same.")
        }
        if let start = certificate.notBefore, start > now { warnings.append("It is not valid yet.") }
        if !credentials.isEmpty, !matches { warnings.append("The credentials are those of another certificate.") }
        self.warnings = warnings
    }

    var facts: [(name: String, value: String)] {
        let dates = [notBefore, notAfter].map { $0?.formatted(.iso8601) ?? "–" }
        return [
            ("Certificate", "RSA \(bits), for \(subject)"), ("Issued by", issuer), ("SHA-1", sha1),
            ("Valid", dates.joined(separator: " to ")),
            ("Use", isTestCertificate ? "Latchkey's tests only" : "not a test certificate"),
        ] + (matchesCredentials.map { [("Credentials", $0 ? "belong to it" : "do not belong to it")] } ?? [])
    }
}
