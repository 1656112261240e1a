import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

/// A simulated device's request for one key, as a player has it; remembers its SPC and everything that it was answered.
final class DeviceRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose

    private struct State {
        var exchange: KeyExchange?
        var answers: [Result<Data, ContentKeyError>] = []
    }

    private let applicationSecret: Secret
    private let onRenewal: (@Sendable () -> Void)?
    private let onEnd: @Sendable (ContentKeyError) -> Void
    private let state = Locked(State())
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    /// - Parameters:
    ///   - onRenewal: called when the player is asked to renew the key; it cannot unless given.
    ///   - onEnd: called when the key's life ends.
    init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming, applicationSecret: Secret,
        onRenewal: (@Sendable () -> Void)? = nil, onEnd: @escaping @Sendable (ContentKeyError) -> Void = { _ in }
    ) {
        self.onRenewal = onRenewal
        self.onEnd = onEnd
        self.keyURI = keyURI
        self.purpose = purpose
        self.applicationSecret = applicationSecret
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        var generator = SystemRandomNumberGenerator()
        let device = try SimulatedDevice(
            certificate: LatchkeyFairPlay.ApplicationCertificate(certificate), applicationSecret: applicationSecret)
        let exchange = try device.exchange(for: ContentIdentifier(bytes: contentIdentifier), using: &generator)
        state.withLock { $0.exchange = exchange }
        return exchange.spc.revealed
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        state.withLock { $0.answers.append(result) }
        arrivals.continuation.yield()
    }

    func renew() -> Bool {
        onRenewal?()
        return onRenewal != nil
    }

    func ended(_ error: ContentKeyError) { onEnd(error) }

    /// How often it was answered.
    var answerCount: Int { state.withLock { $0.answers.count } }

    /// The SPC and the CKC, as far as they were made.
    var secrets: [Data] {
        state.withLock { state in
            (state.exchange.map { [$0.spc.revealed] } ?? []) + state.answers.compactMap { try? $0.get() }
        }
    }

    /// The key that the device has after the first answer, or why it has none.
    var outcome: Result<DeviceKey, any Error> {
        get async {
            if state.withLock({ $0.answers.isEmpty }) { for await _ in arrivals.stream { break } }
            let (answer, exchange) = state.withLock { ($0.answers.first, $0.exchange) }
            return Result {
                let ckc = try #require(answer).get()
                return try #require(exchange).open(ckc)
            }
        }
    }
}
