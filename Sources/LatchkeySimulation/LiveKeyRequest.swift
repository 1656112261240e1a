import Foundation
@_spi(Adapters) import Latchkey
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
    private let reply = PlayerReply()

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

    func keysInPlaylists() async -> Set<KeyURI>? { playback.keysInPlaylists }

    func ended(_ error: ContentKeyError) { playback.ended(self, error) }

    /// Passes the request to the loader. The answer may come before this returns.
    func send() { reply.attach(playback.loader.answer(self)) }

    /// Releases the request and its key in the loader.
    func release() { reply.release() }
}
