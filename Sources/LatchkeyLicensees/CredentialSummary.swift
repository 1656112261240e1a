package import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// A server's public summary of a credential, without secrets. The certificate's SHA-1 is its name.
///
/// Source: `Documentation/LicenseServer.md` §8.4.
package struct CredentialSummary: Sendable, Equatable {
    /// The SHA-1 of the certificate, in hexadecimal.
    package let sha1: String
    /// The size of the RSA modulus.
    package let rsaBits: Int
    /// Whether it is one of this project's test certificates.
    package let isTestCertificate: Bool
    /// Whether the private key is in a token.
    package let isInToken: Bool
    /// The end of the certificate's validity, for a metric; `nil` if it states none.
    package let notAfter: Date?
    private let timeLeft: Duration?
    /// The whole days until then, negative afterwards; `nil` if the certificate states no end.
    package var daysLeft: Int? { timeLeft.map { Int(($0.inSeconds / 86_400).rounded(.down)) } }
    /// Whether the certificate's validity has begun.
    package let hasBegun: Bool

    /// The number of days before the end at which the notice begins.
    static let daysOfWarning = 30

    init(_ credential: KeyServerCredential, at date: Date) {
        let certificate = credential.certificate
        sha1 = certificate.fingerprint.hexString
        rsaBits = certificate.rsaBits
        isTestCertificate = certificate.isTestCertificate
        isInToken = credential.key is PKCS11Key
        notAfter = certificate.notAfter
        timeLeft = certificate.notAfter.map { .seconds($0.timeIntervalSince(date)) }
        hasBegun = certificate.notBefore.map { $0 <= date } ?? true
    }

    /// A notice about its dates for the operator, in one sentence. Devices reportedly do not check them, so it stops no server.
    package var notice: String? {
        if !hasBegun { return "The certificate \(sha1) is not valid yet." }
        guard let timeLeft, let daysLeft, daysLeft < Self.daysOfWarning else { return nil }
        if timeLeft < .zero { return "The certificate \(sha1) expired \(timeLeft.inDaysAgo); replace it." }
        return "The certificate \(sha1) expires in \(daysLeft.counted("day")); replace it in time."
    }
}

extension Duration {
    /// The age of a past time: in hours, and from two days on in days.
    package var inDaysAgo: String {
        let hours = Int((-inSeconds / 3_600).rounded())
        return "\(hours < 48 ? hours.counted("hour") : (hours / 24).counted("day")) ago"
    }
}

extension CredentialSummary: CustomStringConvertible {
    /// One line for the start and for a check.
    package var description: String {
        let kind = isTestCertificate ? "test certificate" : "certificate"
        let days = daysLeft.map { "\($0.counted("day")) left" } ?? "no end"
        return "\(kind) \(sha1), RSA \(rsaBits), \(days), private key in \(isInToken ? "a token" : "memory")"
    }
}
