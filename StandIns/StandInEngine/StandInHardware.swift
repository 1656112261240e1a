public import Foundation
public import LatchkeyCore
import LatchkeyDevice
public import LatchkeyFairPlay

/// The secrets of the simulated devices, by certificate.
///
/// A real device needs only the certificate that the app passes to the player. A simulated device also needs the test ASk,
/// which it finds here by the fingerprint of the certificate. Tests with different credentials share nothing here.
public enum StandInHardware {
    private static let secrets = Locked<[Data: Secret]>([:])

    /// Enables SPCs for a certificate.
    /// - Parameters:
    ///   - applicationSecret: the test ASk, 16 bytes.
    ///   - certificate: its test certificate.
    public static func register(applicationSecret: Secret, certificate: FairPlayCertificate) {
        secrets.withLock { $0[certificate.fingerprint] = applicationSecret }
    }

    /// Enables SPCs for a certificate.
    /// - Parameter certificate: the certificate in DER form.
    /// - Throws: a `CertificateError`.
    public static func register(applicationSecret: Secret, certificate der: Data) throws(CertificateError) {
        register(applicationSecret: applicationSecret, certificate: try FairPlayCertificate(der))
    }

    /// Enables SPCs for test credentials.
    public static func register(_ credentials: TestCredentials) {
        register(
            applicationSecret: credentials.applicationSecret, certificate: credentials.credential.certificate)
    }

    /// Removes a certificate.
    public static func forget(_ certificate: FairPlayCertificate) {
        secrets.withLock { $0[certificate.fingerprint] = nil }
    }

    /// The device for a certificate.
    /// - Throws: an `NSError` with a number from `Documentation/Players.md` §3.12.
    static func device(certificate der: Data, on stage: StandInStage) throws -> SimulatedDevice {
        guard !der.isEmpty else { throw AppleError.status(-42672, "There is no application certificate.") }
        let certificate: FairPlayCertificate
        do { certificate = try FairPlayCertificate(der) } catch {
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
