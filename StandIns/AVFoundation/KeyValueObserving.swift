public import Foundation
import LatchkeyCore

// Key-value observing needs the Objective-C runtime. Here, the properties that an app observes report their changes
// explicitly, on the thread that changes them; AVFoundation reports them on the main thread.

/// An observation, until it is invalidated or deallocated.
// Sound: set once; the closure that ends it is behind a lock. Not `Sendable` for its users, as in the SDK.
public final class NSKeyValueObservation: NSObject {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    public func invalidate() { end() }
}

@available(*, unavailable) extension NSKeyValueObservation: Sendable {}

/// A change. An observation without options contains no values.
public struct NSKeyValueObservedChange<Value> {
    public let newValue: Value? = nil
    public let oldValue: Value? = nil
    public let isPrior = false
}

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Calls once at the beginning.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// The observations of one object.
final class PropertyObservers: Sendable {
    enum Property { case status, isOutputObscured }

    private struct State {
        var last = 0
        var calls: [Int: (property: Property, call: @Sendable () -> Void)] = [:]
    }

    private let state = Locked(State())

    func changed(_ property: Property) {
        let calls = state.withLock { state in state.calls.values.filter { $0.property == property }.map(\.call) }
        for call in calls { call() }
    }

    func observe(
        _ property: Property, _ options: NSKeyValueObservingOptions, _ call: @escaping @Sendable () -> Void
    ) -> NSKeyValueObservation {
        let number = state.withLock { state in
            state.last += 1
            state.calls[state.last] = (property, call)
            return state.last
        }
        if options.contains(.initial) { call() }
        return NSKeyValueObservation { [weak self] in
            self?.state.withLock { _ = $0.calls.removeValue(forKey: number) }
        }
    }
}

extension AVPlayer {
    /// The properties that can be observed here: `status` and `isOutputObscuredDueToInsufficientExternalProtection`.
    public nonisolated func observe<Value>(
        _ keyPath: KeyPath<AVPlayer, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (AVPlayer, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let isStatus = keyPath == \AVPlayer.status
        return observers.observe(isStatus ? .status : .isOutputObscured, options) { [weak self] in
            if let self { changeHandler(self, NSKeyValueObservedChange()) }
        }
    }
}

extension AVPlayerItem {
    /// The property that can be observed here: `status`.
    public nonisolated func observe<Value>(
        _ keyPath: KeyPath<AVPlayerItem, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (AVPlayerItem, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        playback.observers.observe(.status, options) { [weak self] in
            if let self { changeHandler(self, NSKeyValueObservedChange()) }
        }
    }
}
