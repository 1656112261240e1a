public import Foundation
import LatchkeyCore
import StandInEngine

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

    nonisolated let state = PlayerState()
    nonisolated var observers: PropertyObservers { state.observers }
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
    /// `failed` after the media services were reset: such a player no longer plays.
    public nonisolated var status: AVPlayer.Status { error == nil ? .readyToPlay : .failed }
    public nonisolated var error: (any Error)? { state.error }

    public var rate: Float {
        get { state.rate }
        set {
            state.rate = newValue
            if newValue > 0 { state.item?.playback.play(on: state) }
        }
    }

    public nonisolated func seek(to time: CMTime) { currentItem?.playback.time = time }

    public nonisolated var timeControlStatus: AVPlayer.TimeControlStatus {
        switch (state.rate > 0, state.item?.status) {
        case (false, _), (_, .failed): .paused
        case (_, .readyToPlay): .playing
        default: .waitingToPlayAtSpecifiedRate
        }
    }

    /// Whether the picture is black because a display does not protect it as a key's license requires.
    public nonisolated var isOutputObscuredDueToInsufficientExternalProtection: Bool {
        state.item?.playback.asset.session?.isInsufficientlyProtected == true
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
    fileprivate struct Values {
        var item: AVPlayerItem?
        var rate: Float = 0
        var allowsExternalPlayback = true
        var isExternalPlaybackActive = false
        var usesExternalPlayback = false
        var isQueue = false
        var following: [AVPlayerItem] = []
        var listeners: [@Sendable () -> Void] = []
        var error: (any Error)?
    }

    let schedule = InterstitialSchedule()
    let observers = PropertyObservers()
    fileprivate let values = Locked(Values())

    /// Makes an item the current one. It begins to load.
    func take(_ item: AVPlayerItem?) {
        let previous = values.withLock { values in
            defer { values.item = item }
            return values.item
        }
        if previous !== item { previous?.playback.leave(self) }
        guard let item else { return }
        item.playback.asset.stage.note(self)
        if let error { item.playback.fail(error) } else { item.playback.begin(for: self) }
    }

    /// Ends the player, with its item.
    func fail(_ error: any Error) {
        let item = values.withLock { values in
            values.error = error
            values.rate = 0
            return values.item
        }
        item?.playback.fail(error)
        observers.changed(.status)
    }

    var error: (any Error)? { values.withLock { $0.error } }

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

// MARK: - The queue

extension PlayerState {
    /// The items after the current one.
    var following: [AVPlayerItem] { values.withLock { $0.following } }

    func becomeQueue() { values.withLock { $0.isQueue = true } }

    /// Adds an item, which begins to load.
    func enqueue(_ item: AVPlayerItem, after other: AVPlayerItem?) {
        let isCurrent = values.withLock { values in
            guard values.item != nil else { return true }
            let index = values.following.firstIndex { $0 === other }.map { $0 + 1 }
            values.following.insert(item, at: index ?? (values.item === other ? 0 : values.following.count))
            return false
        }
        guard isCurrent else { return item.playback.begin(for: self) }
        take(item)
        if rate > 0 { item.playback.play(on: self) }
    }

    func drop(_ isDropped: (AVPlayerItem) -> Bool) {
        let dropped = values.withLock { values in
            defer { values.following.removeAll(where: isDropped) }
            return values.following.filter(isDropped)
        }
        for item in dropped { item.playback.leave(self) }
    }

    /// Plays the next item of the queue.
    func advance() {
        let next = values.withLock { $0.following.isEmpty ? nil : $0.following.removeFirst() }
        take(next)
        if rate > 0 { next?.playback.play(on: self) }
    }

    func whenEnded(_ listener: @escaping @Sendable () -> Void) { values.withLock { $0.listeners.append(listener) } }

    /// An item has played to its end.
    func ended(_ playback: ItemPlayback) {
        let (isQueue, listeners) = values.withLock { ($0.isQueue && $0.item?.playback === playback, $0.listeners) }
        guard isQueue else { return }
        for listener in listeners { listener() }
        advance()
    }

    func log(_ rule: RuleViolation.Rule, _ item: AVPlayerItem) {
        item.playback.asset.stage.log.note(rule, item.playback.asset.url.lastPathComponent)
    }
}
