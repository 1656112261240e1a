import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyJWPlayer
import StandInEngine
import StandInPlayers
import Synchronization

/// An app on JW Player 4: a bridge, a player, and what the bridge told of errors.
final class JWApp: Sendable {
    let errors = KeyErrorLog()
    let view = JWPlayerView()
    private let bridge: Mutex<JWPlayerKeyBridge?>

    var keys: JWPlayerKeyBridge? { bridge.withLock { $0 } }
    var standIn: JWStandIn { view.standIn }

    init(
        _ loader: ContentKeyLoader, on stage: PlayerStage, playing url: URL, stored: JWPlayerStoredKeys? = nil
    ) throws {
        let errors = errors
        let keys = JWPlayerKeyBridge(loader, stored: stored, timekeeper: stage.time) { errors.add($0, $1) }
        bridge = Mutex(keys)
        view.player.contentKeyDataSource = keys
        if let stored { view.player.contentLoader = JWDRMContentLoader(dataSource: keys, keyManager: stored) }
        let item = try JWPlayerItemBuilder().file(url).build()
        view.player.configurePlayer(with: try JWPlayerConfigurationBuilder().playlist(items: [item]).build())
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

    /// The bridge goes away.
    func drop() { bridge.withLock { $0 = nil } }
}
