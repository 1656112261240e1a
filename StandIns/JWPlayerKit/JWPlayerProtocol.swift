public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The player of a view.
public protocol JWPlayerProtocol: AnyObject {
    /// Held weakly. Set it before configuring the player.
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

    // In the SDK it is isolated, like everything in a view. Here, tests use the player from their own tasks.
    public nonisolated var player: any JWPlayerProtocol { simulated }

    /// The controls of the player, for tests. Not in JW Player's SDK.
    public nonisolated var standIn: JWStandIn { simulated.standIn }
}

/// Shows a player with controls.
@MainActor open class JWPlayerViewController: NSObject {
    private nonisolated let simulated = SimulatedJWPlayer()

    public override nonisolated init() { super.init() }

    public nonisolated var player: any JWPlayerProtocol { simulated }

    /// The controls of the player, for tests. Not in JW Player's SDK.
    public nonisolated var standIn: JWStandIn { simulated.standIn }
}

/// Plays a stream with keys from a data source.
// Sound: the mutable state is in `state`, behind a lock.
final class SimulatedJWPlayer: JWPlayerProtocol, @unchecked Sendable {
    // Sound: the loader is set once, and calls the app on one queue.
    private struct State: @unchecked Sendable {
        var loader: JWDRMContentLoader?
        var playback: SourcePlayback?
    }

    private let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.jwplayer.keys")
    private let dataSource: WeakDataSource<any JWDRMContentKeyDataSource>
    private let state = Locked(State())

    init() { dataSource = WeakDataSource(on: stage) }

    deinit { state.withLock { $0.playback }?.end() }

    var contentKeyDataSource: (any JWDRMContentKeyDataSource)? {
        get { dataSource.source }
        set {
            if newValue != nil, dataSource.source == nil, state.withLock({ $0.playback }) != nil {
                stage.log.note(.delegateSetLate, "contentKeyDataSource was set after configurePlayer(with:).")
            }
            dataSource.source = newValue
        }
    }

    var contentLoader: JWDRMContentLoader? {
        get { state.withLock { $0 }.loader }
        set {
            nonisolated(unsafe) let loader = newValue
            state.withLock { $0.loader = loader }
        }
    }

    func configurePlayer(with config: JWPlayerConfiguration) {
        let hooks = PlayerKeyHooks(dataSource.hooks(on: queue, stage), contentLoader)
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
        JWStandIn(stage: stage, playback: state.withLock { $0.playback }, calls: dataSource.hooks(on: queue, stage))
    }
}
