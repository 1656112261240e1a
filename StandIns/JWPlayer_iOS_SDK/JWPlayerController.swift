public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Plays a stream with keys from a data source.
// Sound: what changes is in `state`, behind a lock; StandInTests run under the thread sanitizer.
open class JWPlayerController: NSObject, @unchecked Sendable {
    private struct State {
        weak var delegate: (any JWPlayerDelegate)?
        var playback: SourcePlayback?
    }

    let stage = StandInStage.current ?? StandInStage()
    let queue = DispatchQueue(label: "com.longtailvideo.keys")
    let box: DataSourceBox
    private let state = Locked(State())

    public convenience init?(config: JWConfig) { self.init(config: config, delegate: nil, drmDataSource: nil) }

    public convenience init?(config: JWConfig, delegate: (any JWPlayerDelegate)?) {
        self.init(config: config, delegate: delegate, drmDataSource: nil)
    }

    public init?(
        config: JWConfig, delegate: (any JWPlayerDelegate)?, drmDataSource: (any JWDrmDataSource)?
    ) {
        guard let file = config.file else { return nil }
        box = DataSourceBox(on: stage)
        box.source = drmDataSource
        super.init()
        // Sound: the delegate is called from the player's queue only.
        nonisolated(unsafe) let delegate = delegate
        let playback = SourcePlayback(of: file, on: stage, hooks: hooks)
        state.withLock {
            $0.delegate = delegate
            $0.playback = playback
        }
        watch(playback)
        // The keys of a player that gets its source behind its making are asked for when it plays.
        if drmDataSource != nil { playback.load() }
        if config.autostart { play() }
    }

    deinit { state.withLock { $0.playback }?.end() }

    /// Held weakly.
    public weak var drmDataSource: (any JWDrmDataSource)? {
        get { box.source }
        set {
            if newValue != nil, box.source == nil, playback?.hasBegun == true {
                stage.log.note(.delegateSetLate, "drmDataSource was set after the keys were asked for.")
            }
            box.source = newValue
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

    var hooks: CompletionHooks {
        CompletionHooks(box.calls, on: queue, stage) { NSError(domain: "JWPlayerErrorDomain", code: 0, $0) }
    }

    private func watch(_ playback: SourcePlayback) {
        Task { [weak self] in
            do { _ = try await playback.finished() } catch { self?.tell(error) }
        }
    }

    private func tell(_ error: any Error) {
        stage.deliver("onError", on: queue) { [self] in
            let delegate = state.withLock { state in
                // Sound: as in `init`.
                nonisolated(unsafe) let delegate = state.delegate
                return delegate
            }
            guard let delegate else { return CallbackProbe.noteNobody() }
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
