public import Foundation
public import LatchkeyCore
import LatchkeyDevice
public import LatchkeyFairPlay

/// The secrets of the devices behind the stand-ins, by the certificate that they belong to.
///
/// An app hands a player a certificate and nothing else, and a real device needs no more. A simulated one needs the test
/// ASk; it is looked up by the fingerprint of the certificate. Tests with credentials of their own share nothing here.
public enum StandInHardware {
    private static let secrets = Locked<[Data: Secret]>([:])

    /// Lets the stand-ins make SPCs for a certificate.
    /// - Parameters:
    ///   - applicationSecret: the test ASk, 16 bytes.
    ///   - certificate: the test certificate that it belongs to.
    public static func register(applicationSecret: Secret, certificate: ApplicationCertificate) {
        secrets.withLock { $0[certificate.fingerprint] = applicationSecret }
    }

    /// Lets the stand-ins make SPCs for a certificate.
    /// - Parameter certificate: in DER form.
    /// - Throws: `CertificateError`.
    public static func register(applicationSecret: Secret, certificate der: Data) throws(CertificateError) {
        register(applicationSecret: applicationSecret, certificate: try ApplicationCertificate(der))
    }

    /// Lets the stand-ins make SPCs for test credentials.
    public static func register(_ credentials: TestCredentials) {
        register(
            applicationSecret: credentials.applicationSecret, certificate: credentials.credential.certificate)
    }

    /// Forgets a certificate.
    public static func forget(_ certificate: ApplicationCertificate) {
        secrets.withLock { $0[certificate.fingerprint] = nil }
    }

    /// The device for a certificate.
    /// - Throws: an `NSError` of the numbers of `player-apis.md` §3.12.
    static func device(certificate der: Data, on stage: StandInStage) throws -> SimulatedDevice {
        guard !der.isEmpty else { throw AppleError.status(-42672, "There is no application certificate.") }
        let certificate: ApplicationCertificate
        do { certificate = try ApplicationCertificate(der) } catch {
            throw AppleError.status(-42679, error.reason)
        }
        guard let secret = secrets.withLock({ $0[certificate.fingerprint] }) else {
            let shown = certificate.fingerprint.hexString
            throw AppleError.status(-42679, "No device is registered for the certificate (SHA-1 \(shown)).")
        }
        do {
            return try SimulatedDevice(
                certificate: certificate, applicationSecret: secret, timekeeper: stage.timekeeper)
        } catch {
            throw AppleError.status(-42679, error.reason)
        }
    }
}
