import Foundation
import LatchkeyFairPlay

/// Certificates other than the stage's.
enum TestCertificate {
    /// A certificate of another application, DER.
    static func other() throws -> Data { try TestCredentials.make(bits: 1024).credential.certificate.der }
}
