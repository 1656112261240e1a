public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Plays a stream with keys from a data source.
open class JWPlayerController: NSObject {
    // Sound: the delegate is called only on the player's queue.
    private struct State: @unchecked Sendable {
        weak var delegate: (any JWPlayerDelegate)?
        var playback: SourcePlayback?
    }

    let stage = StandInStage.current ?? StandInStage()
    let queue = DispatchQueue(label: "com.longtailvideo.keys")
    let dataSource: WeakDataSource<any JWDrmDataSource>
    private let state = Locked(State())

    public convenience init?(config: JWConfig) { self.init(config: config, delegate: nil, drmDataSource: nil) }

    public convenience init?(config: JWConfig, delegate: (any JWPlayerDelegate)?) {
        self.init(config: config, delegate: delegate, drmDataSource: nil)
    }

    public init?(
        config: JWConfig, delegate: (any JWPlayerDelegate)?, drmDataSource: (any JWDrmDataSource)?
    ) {
        guard let file = config.file else { return nil }
        dataSource = WeakDataSource(on: stage)
        dataSource.source = drmDataSource
        super.init()
        // Sound: the delegate is called only on the player's queue.
        nonisolated(unsafe) let delegate = delegate
        let playback = SourcePlayback(of: file, on: stage, hooks: hooks)
        state.withLock {
            $0.delegate = delegate
            $0.playback = playback
        }
        watch(playback)
        // If the source is set after the player is made, the player requests keys when it plays.
        if drmDataSource != nil { playback.load() }
        if config.autostart { play() }
    }

    deinit { state.withLock { $0.playback }?.end() }

    /// Held weakly.
    public weak var drmDataSource: (any JWDrmDataSource)? {
        get { dataSource.source }
        set {
            if newValue != nil, dataSource.source == nil, playback?.hasBegun == true {
                stage.log.note(.delegateSetLate, "drmDataSource was set after the keys were asked for.")
            }
            dataSource.source = newValue
        }
    }

    public func play() { playback?.play() }

    public func stop() { playback?.end() }

    /// Plays another stream.
    public func load(_ config: JWConfig) {
        let next = config.file.map { SourcePlayback(of: $0, on: stage, hooks: hooks) }
        let previous = state.withLock { state in
            defer { state.playback = next }
            return state.playback
        }
        previous?.end()
        next.map(watch)
        next?.load()
    }

    var playback: SourcePlayback? { state.withLock { $0.playback } }

    /// Whether the player asks for content identifiers. Version 3.13 does.
    var asksForIdentifiers: Bool { true }

    var hooks: CompletionHooks {
        CompletionHooks(dataSource.calls(asksForIdentifiers: asksForIdentifiers), on: queue, stage) {
            NSError(domain: "JWPlayerErrorDomain", code: 0, $0)
        }
    }

    private func watch(_ playback: SourcePlayback) {
        Task { [stage, queue, state] in
            do { _ = try await playback.finished() } catch { JWPlayerController.tell(error, stage, queue, state) }
        }
    }

    private static func tell(_ error: any Error, _ stage: StandInStage, _ queue: DispatchQueue, _ state: Locked<State>)
    {
        stage.deliver("onError", on: queue) {
            guard let delegate = state.withLock({ $0 }).delegate else { return CallbackProbe.noteNobody() }
            delegate.onError(ErrorEvent(error: error))
        }
    }
}

extension JWPlayerDelegate {
    public func onError(_ event: any JWEvent & JWErrorEvent) { CallbackProbe.noteDefault() }
}

private struct ErrorEvent: JWEvent, JWErrorEvent {
    let error: any Error
}
