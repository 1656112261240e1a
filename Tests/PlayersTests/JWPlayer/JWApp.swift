import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyJWPlayer
import StandInEngine
import StandInPlayers
import Synchronization

/// An app on JW Player 4: the keys, a player, and the failures that the keys reported.
final class JWApp: Sendable {
    let failures = FailureLog()
    let view = JWPlayerView()
    private let held: Mutex<JWPlayerKeys?>

    var keys: JWPlayerKeys? { held.withLock { $0 } }
    var standIn: JWStandIn { view.standIn }

    init(
        _ loader: ContentKeyLoader, on stage: PlayerStage, playing url: URL, stored: JWPlayerStoredKeys? = nil
    ) throws {
        let failures = failures
        let keys = JWPlayerKeys(loader, stored: stored, timekeeper: stage.time, onFailure: failures.add)
        held = Mutex(keys)
        view.player.contentKeyDataSource = keys
        if let stored { view.player.contentLoader = JWDRMContentLoader(dataSource: keys, keyManager: stored) }
        let item = try JWPlayerItemBuilder().file(url).build()
        view.player.configurePlayer(with: try JWPlayerConfigurationBuilder().playlist(items: [item]).build())
    }

    /// Begins to store the keys of a stream.
    func store(_ stream: URL, with stored: JWPlayerStoredKeys) throws {
        stored.isDownloading = true
        view.player.contentLoader?.load(items: [try JWPlayerItemBuilder().file(stream).build()])
    }

    /// Plays from the start.
    func play() async throws -> StandInPlayback.Result {
        view.player.play()
        return try await standIn.finished()
    }

    /// Plays from the start, and fails.
    func failure() async -> JWError? {
        do {
            _ = try await play()
            return nil
        } catch {
            return error as? JWError
        }
    }

    /// The keys are deallocated.
    func drop() { held.withLock { $0 = nil } }
}
