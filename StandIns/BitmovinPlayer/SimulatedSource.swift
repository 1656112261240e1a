import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The implementation of `Source`.
final class SimulatedSource: Source, DrmApi, FairplayApi, Sendable {
    private struct WeakListener {
        weak var listener: (any SourceListener)?
    }

    private struct State {
        var listeners: [WeakListener] = []
        var playback: SourcePlayback?
    }

    let stage = StandInStage.current ?? StandInStage()
    let hooks: FairplayHooks
    private let queue = DispatchQueue(label: "com.bitmovin.drm")
    private let state = Locked(State())

    init(_ config: SourceConfig) {
        hooks = FairplayHooks(config.drmConfig as? FairplayConfig, on: queue, stage)
        let playback = SourcePlayback(of: config.url.absoluteString, on: stage, hooks: hooks)
        state.withLock { $0.playback = playback }
        hooks.announce { [weak self] request in
            self?.tell("onFairplayLicenseAcquired") {
                $0.onFairplayLicenseAcquired(FairplayLicenseAcquiredEvent(request), source: $1)
            }
        }
        Task { [weak self] in
            do { _ = try await playback.finished() } catch {
                let event = SourceErrorEvent(error as NSError)
                self?.tell("onSourceError") { $0.onSourceError(event, source: $1) }
            }
        }
    }

    deinit { state.withLock { $0.playback }?.end() }

    var playback: SourcePlayback? { state.withLock { $0.playback } }
    var drm: any DrmApi { self }
    var fairplay: any FairplayApi { self }

    func add(listener: any SourceListener) {
        // Sound: listeners are called only on the player's queue.
        nonisolated(unsafe) let listener = listener
        state.withLock { $0.listeners.append(WeakListener(listener: listener)) }
    }

    func renewExpiringLicense(for contentKeyRequest: FairplayContentKeyRequest) {
        let uri = KeyURI(contentKeyRequest.skdUri)
        guard let playback, playback.usableKeys.contains(uri.raw) else {
            return stage.log.note(.renewedWithoutKey, uri.raw)
        }
        Task { try? await playback.renew(uri) }
    }

    private func tell(_ name: String, _ body: @escaping @Sendable (any SourceListener, any Source) -> Void) {
        let count = state.withLock { $0.listeners.count }
        for index in 0..<count {
            stage.deliver(name, on: queue) { [self] in
                let listener = state.withLock { state in
                    // Sound for the same reason as in `add(listener:)`.
                    nonisolated(unsafe) let listener = state.listeners[index].listener
                    return listener
                }
                guard let listener else { return CallbackProbe.noteNobody() }
                body(listener, self)
            }
        }
    }
}
