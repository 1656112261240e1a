import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

/// A player's request for one key with a simulated device. Records its SPC and all answers.
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
    ///   - onRenewal: called when the player should renew the key. Defaults to a player that cannot renew.
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
            certificate: FairPlayCertificate(certificate), applicationSecret: applicationSecret)
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

    /// The number of answers.
    var answerCount: Int { state.withLock { $0.answers.count } }

    /// The SPC and the CKC, if they were made.
    var secrets: [Data] {
        state.withLock { state in
            (state.exchange.map { [$0.spc.revealed] } ?? []) + state.answers.compactMap { try? $0.get() }
        }
    }

    /// The device's key after the first answer, or the reason for having none.
    var outcome: Result<DeviceKey, any Error> {
        get async {
            if state.withLock({ $0.answers.isEmpty }) { for await _ in arrivals.stream { break } }
            let (answer, exchange) = state.withLock { ($0.answers.first, $0.exchange) }
            return Result(catching: {
                let ckc = try #require(answer).get()
                return try #require(exchange).open(ckc)
            })
        }
    }
}
