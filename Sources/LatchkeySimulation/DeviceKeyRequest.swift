import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyVendors

/// A key request of the simulated device, which makes its SPC and opens the CKC.
final class DeviceKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let exchange: DeviceExchange
    private let continuation: CheckedContinuation<StartedKey, any Error>

    /// - Parameter continuation: resumed with the key, the loader's error, or the device's.
    init(
        _ keyURI: KeyURI, purpose: KeyPurpose, maker: SimulatedDeviceMaker,
        continuation: CheckedContinuation<StartedKey, any Error>
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.continuation = continuation
        exchange = DeviceExchange(maker)
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try exchange.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier, SPCOptions(purpose))
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        continuation.resume(
            with: Result { StartedKey(key: try exchange.open(result.get())) })
    }
}

/// A key request of the simulated device for a key that the app stores; playback starts with the answer.
final class PersistableDeviceKeyRequest: PersistableKeyRequest {
    let keyURI: KeyURI
    private let vault: KeyVault
    private let exchange: DeviceExchange
    private let continuation: CheckedContinuation<StartedKey, any Error>

    /// - Parameters:
    ///   - vault: makes the stored form of the key, and opens it.
    ///   - continuation: resumed with the key, the loader's error, or the device's.
    init(
        _ keyURI: KeyURI, vault: KeyVault, maker: SimulatedDeviceMaker,
        continuation: CheckedContinuation<StartedKey, any Error>
    ) {
        self.keyURI = keyURI
        self.vault = vault
        self.continuation = continuation
        exchange = DeviceExchange(maker)
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try exchange.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier, SPCOptions(purpose))
    }

    func persistableKey(from ckc: Data) throws -> Data { try exchange.persistableKey(from: ckc, in: vault) }

    func answer(_ result: Result<Data, ContentKeyError>) {
        continuation.resume(with: Result { try vault.start(result.get()) })
    }
}
