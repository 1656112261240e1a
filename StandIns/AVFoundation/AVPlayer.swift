public import Foundation
import LatchkeyCore

/// Plays an item: fetches the playlist, requests the keys, decrypts and decodes.
@MainActor open class AVPlayer: NSObject {
    public enum Status: Int, Sendable {
        case unknown = 0
        case readyToPlay = 1
        case failed = 2
    }

    public enum TimeControlStatus: Int, Sendable {
        case paused = 0
        case waitingToPlayAtSpecifiedRate = 1
        case playing = 2
    }

    private nonisolated let state = PlayerState()
    nonisolated var schedule: InterstitialSchedule { state.schedule }

    public override nonisolated init() { super.init() }

    public nonisolated init(url URL: Foundation.URL) {
        super.init()
        state.take(AVPlayerItem(url: URL))
    }

    public nonisolated init(playerItem item: AVPlayerItem?) {
        super.init()
        state.take(item)
    }

    public func play() { rate = 1 }

    public func pause() { rate = 0 }

    open func replaceCurrentItem(with item: AVPlayerItem?) {
        state.take(item)
        if rate > 0 { item?.playback.play(on: state) }
    }

    public nonisolated var currentItem: AVPlayerItem? { state.item }
    public nonisolated var status: AVPlayer.Status { .readyToPlay }
    public nonisolated var error: (any Error)? { nil }

    public var rate: Float {
        get { state.rate }
        set {
            state.rate = newValue
            if newValue > 0 { state.item?.playback.play(on: state) }
        }
    }

    public nonisolated var timeControlStatus: AVPlayer.TimeControlStatus {
        switch (state.rate > 0, state.item?.status) {
        case (false, _), (_, .failed): .paused
        case (_, .readyToPlay): .playing
        default: .waitingToPlayAtSpecifiedRate
        }
    }

    public nonisolated var allowsExternalPlayback: Bool {
        get { state.allowsExternalPlayback }
        set { state.allowsExternalPlayback = newValue }
    }
    public nonisolated var isExternalPlaybackActive: Bool { state.isExternalPlaybackActive }
    public nonisolated var usesExternalPlaybackWhileExternalScreenIsActive: Bool {
        get { state.usesExternalPlayback }
        set { state.usesExternalPlayback = newValue }
    }
}

/// The state of a player, for any thread.
final class PlayerState: Sendable {
    private struct Values {
        var item: AVPlayerItem?
        var rate: Float = 0
        var allowsExternalPlayback = true
        var isExternalPlaybackActive = false
        var usesExternalPlayback = false
    }

    let schedule = InterstitialSchedule()
    private let values = Locked(Values())

    /// Makes an item the current one. It begins to load.
    func take(_ item: AVPlayerItem?) {
        let previous = values.withLock { values in
            defer { values.item = item }
            return values.item
        }
        if previous !== item { previous?.playback.leave(self) }
        item?.playback.begin(for: self)
    }

    var item: AVPlayerItem? { values.withLock { $0.item } }
    var rate: Float {
        get { values.withLock { $0.rate } }
        set { values.withLock { $0.rate = newValue } }
    }
    var allowsExternalPlayback: Bool {
        get { values.withLock { $0.allowsExternalPlayback } }
        set { values.withLock { $0.allowsExternalPlayback = newValue } }
    }
    var isExternalPlaybackActive: Bool {
        get { values.withLock { $0.isExternalPlaybackActive } }
        set { values.withLock { $0.isExternalPlaybackActive = newValue } }
    }
    var usesExternalPlayback: Bool {
        get { values.withLock { $0.usesExternalPlayback } }
        set { values.withLock { $0.usesExternalPlayback = newValue } }
    }
}
