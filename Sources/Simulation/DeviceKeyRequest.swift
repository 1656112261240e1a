import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyVendors

/// A key request of the simulated device: it makes its SPC there, and the CKC is opened there.
final class DeviceKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let device: SimulatedDevice
    private let exchange = Locked<KeyExchange?>(nil)
    private let continuation: CheckedContinuation<DeviceKey, any Error>

    /// - Parameter continuation: resumed with the key, the loader's error, or the device's.
    init(
        _ keyURI: KeyURI, purpose: KeyPurpose, device: SimulatedDevice,
        continuation: CheckedContinuation<DeviceKey, any Error>
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.device = device
        self.continuation = continuation
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        let exchange = try device.makeSPC(
            certificate: certificate, contentIdentifier: ContentIdentifier(bytes: contentIdentifier))
        self.exchange.withLock { $0 = exchange }
        return exchange.spc
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
