import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors

/// A key request of a live player.
final class LiveKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    let player: PlayerID
    private let options: SPCOptions
    private let exchange: DeviceExchange
    private let playback: LivePlayback
    private let handle = Locked<Handle>(.awaited)

    private enum Handle { case awaited, held(KeyRequestHandle), released }

    init(_ keyURI: KeyURI, _ purpose: KeyPurpose, of playback: LivePlayback) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.playback = playback
        player = playback.player
        options = SPCOptions(purpose, in: playback.session)
        exchange = DeviceExchange(playback.maker)
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try exchange.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier, options)
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        playback.answered(self, Result { try exchange.open(result.get()) })
    }

    func renew() -> Bool { playback.renew(self) }

    func ended(_ error: ContentKeyError) { playback.ended(self, error) }

    /// Hands the request to the loader. The answer may come before this returns.
    func send() {
        let new = playback.loader.answer(self)
        let isReleased = handle.withLock { handle in
            if case .released = handle { return true }
            handle = .held(new)
            return false
        }
        if isReleased { new.release() }
    }

    /// Tells the loader that the player does not want the request, or its key, any more.
    func release() {
        let held: KeyRequestHandle? = handle.withLock { handle in
            defer { handle = .released }
            return if case .held(let held) = handle { held } else { nil }
        }
        held?.release()
    }
}
