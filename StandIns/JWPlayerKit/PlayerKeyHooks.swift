import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Gets stored keys from a player's content loader, and others from its data source.
// Sound: the loader is set once, and calls the app from one queue.
final class PlayerKeyHooks: KeyHooks, @unchecked Sendable {
    let online: CompletionHooks
    private let loader: JWDRMContentLoader?

    init(_ online: CompletionHooks, _ loader: JWDRMContentLoader?) {
        self.online = online
        self.loader = loader
    }

    func makeSPC(for uri: KeyURI, with exchange: StandInExchange) async throws -> Data {
        try await online.makeSPC(for: uri, with: exchange)
    }

    func answer(_ spc: Data, for uri: KeyURI, with exchange: StandInExchange) async throws -> KeyAnswer {
        try await online.answer(spc, for: uri, with: exchange)
    }

    func storedKey(for uri: KeyURI) async -> Data? { await loader?.key(for: uri) }

    func rejectStoredKey(for uri: KeyURI) async { await loader?.delete(uri.raw) }

    func replaceStoredKey(_ bytes: Data, for uri: KeyURI) async { await loader?.write(bytes, uri.raw) }

    func report(_ failure: KeyFailure) -> any Error { JWError(failure) }
}
