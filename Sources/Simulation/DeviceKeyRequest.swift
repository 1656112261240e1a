import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors

/// A key request of the simulated device: it makes its SPC there, and the CKC is opened there.
final class DeviceKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let maker: SimulatedDeviceMaker
    private let exchange = Locked<KeyExchange?>(nil)
    private let continuation: CheckedContinuation<DeviceKey, any Error>

    /// - Parameter continuation: resumed with the key, the loader's error, or the device's.
    init(
        _ keyURI: KeyURI, purpose: KeyPurpose, maker: SimulatedDeviceMaker,
        continuation: CheckedContinuation<DeviceKey, any Error>
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.maker = maker
        self.continuation = continuation
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        var generator = SystemRandomNumberGenerator()
        let exchange = try maker.device(certificate: certificate)
            .exchange(for: ContentIdentifier(bytes: contentIdentifier), using: &generator)
        self.exchange.withLock { $0 = exchange }
        return exchange.spc.revealed
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        continuation.resume(
            with: Result {
                let ckc = try result.get()
                guard let exchange = exchange.withLock({ $0 }) else { throw CancellationError() }
                return try exchange.open(ckc)
            })
    }
}

/// Makes the simulated device for a certificate: a real one takes whatever certificate the app hands it.
struct SimulatedDeviceMaker: Sendable {
    let applicationSecret: Secret
    /// What the secret belongs to; nil where nobody said.
    let certificate: LatchkeyFairPlay.ApplicationCertificate?
    let timekeeper: any Timekeeper

    /// - Parameter der: the certificate that the app hands over.
    func device(certificate der: Data) throws -> SimulatedDevice {
        let given = try LatchkeyFairPlay.ApplicationCertificate(der)
        if let certificate, certificate.fingerprint != given.fingerprint {
            throw ForeignCertificate(given: given, expected: certificate)
        }
        return try SimulatedDevice(
            certificate: given, applicationSecret: applicationSecret, timekeeper: timekeeper)
    }
}

/// The service has another certificate than the device's credentials are for; it could not open the device's SPCs.
struct ForeignCertificate: DiagnosableError {
    let code = "foreignCertificate"
    let reason: String
    let remedy = "Give the credentials that the service was started with."

    init(given: LatchkeyFairPlay.ApplicationCertificate, expected: LatchkeyFairPlay.ApplicationCertificate) {
        let (given, expected) = (given.fingerprint.hexString, expected.fingerprint.hexString)
        reason = "The service's certificate (SHA-1 \(given)) is not that of the device's credentials (\(expected))."
    }
}
