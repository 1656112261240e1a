public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The player behind a view.
public protocol JWPlayerProtocol: AnyObject {
    /// Held weakly; set before the player is configured.
    var contentKeyDataSource: (any JWDRMContentKeyDataSource)? { get set }
    /// Plays stored keys.
    var contentLoader: JWDRMContentLoader? { get set }

    func configurePlayer(with config: JWPlayerConfiguration)
    func play()
    func stop()
}

/// Shows a player.
@MainActor open class JWPlayerView: NSObject {
    private nonisolated let simulated = SimulatedJWPlayer()

    public override nonisolated init() { super.init() }

    public nonisolated var player: any JWPlayerProtocol { simulated }

    /// What a test may see of the player, and do with it. Not in JW Player's SDK.
    public nonisolated var standIn: JWStandIn { simulated.standIn }
}

/// Shows a player with controls.
@MainActor open class JWPlayerViewController: NSObject {
    private nonisolated let simulated = SimulatedJWPlayer()

    public override nonisolated init() { super.init() }

    public nonisolated var player: any JWPlayerProtocol { simulated }

    /// What a test may see of the player, and do with it. Not in JW Player's SDK.
    public nonisolated var standIn: JWStandIn { simulated.standIn }
}

/// Plays a stream with keys from a data source.
final class SimulatedJWPlayer: JWPlayerProtocol, Sendable {
    private struct State {
        var loader: JWDRMContentLoader?
        var playback: SourcePlayback?
    }

    private let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.jwplayer.keys")
    private let box: DataSourceBox
    private let state = Locked(State())

    init() { box = DataSourceBox(on: stage) }

    deinit { state.withLock { $0.playback }?.end() }

    var contentKeyDataSource: (any JWDRMContentKeyDataSource)? {
        get { box.source }
        set {
            if newValue != nil, box.source == nil, state.withLock({ $0.playback }) != nil {
                stage.log.note(.delegateSetLate, "contentKeyDataSource was set after configurePlayer(with:).")
            }
            box.source = newValue
        }
    }

    var contentLoader: JWDRMContentLoader? {
        get { state.withLock { $0.loader } }
        set { state.withLock { $0.loader = newValue } }
    }

    func configurePlayer(with config: JWPlayerConfiguration) {
        let hooks = PlayerKeyHooks(box.hooks(on: queue), contentLoader)
        let playback = config.file.map { SourcePlayback(of: $0.absoluteString, on: stage, hooks: hooks) }
        let previous = state.withLock { state in
            defer { state.playback = playback }
            return state.playback
        }
        previous?.end()
        playback?.load()
        if config.startsAtOnce { playback?.play() }
    }

    func play() { state.withLock { $0.playback }?.play() }

    func stop() { state.withLock { $0.playback }?.end() }

    var standIn: JWStandIn {
        JWStandIn(stage: stage, playback: state.withLock { $0.playback }, calls: box.hooks(on: queue))
    }
}
