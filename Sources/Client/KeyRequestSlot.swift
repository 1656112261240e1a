public import Foundation
import LatchkeyCore

/// What an adapter keeps of a key request: the handle, which it may give up or release before it has one, and what it told its player.
///
/// Safe to use from any thread.
public final class KeyRequestSlot: Sendable {
    /// What the player was told.
    public enum Phase: Sendable {
        /// Nothing yet.
        case open
        /// The key.
        case answered
        /// Why there is none.
        case refused(ContentKeyError)
        /// Nothing, and nothing will be: the player wants no answer any more.
        case closed
    }

    fileprivate struct State {
        var handle: KeyRequestHandle?
        var isReleased = false
        var phase = Phase.open
    }

    private let state = Locked(State())

    /// Makes an empty slot.
    public init() {}

    /// What the player was told.
    public var phase: Phase { state.withLock { $0.phase } }

    /// Has a loader answer a request, which may happen before this returns. One that was released meanwhile is released.
    public func fill(_ request: some PlayerKeyRequest, from loader: ContentKeyLoader) {
        let handle = loader.answer(request)
        let isReleased = state.withLock { state in
            if !state.isReleased { state.handle = handle }
            return state.isReleased
        }
        if isReleased { handle.release() }
    }

    /// Takes the turn to tell the player an answer.
    /// - Returns: whether to tell it. An adapter that asks is right to tell its player once, and only while it wants the answer.
    public func takeTurn(_ result: Result<Data, ContentKeyError>) -> Bool {
        state.withLock { state in
            guard state.phase.isOpen else { return false }
            switch result {
            case .success: state.phase = .answered
            case .failure(let error): state.phase = .refused(error)
            }
            return true
        }
    }

    /// Says that the player wants no answer any more: the request ends without one; see `KeyRequestHandle.abandon()`.
    public func abandon() {
        let handle = state.withLock { state in
            if state.phase.isOpen { state.phase = .closed }
            return state.handle
        }
        handle?.abandon()
    }

    /// Releases the request, now or when it is handed over; see `KeyRequestHandle.release()`.
    /// - Returns: whether it had been handed over, so that the loader answers it.
    @discardableResult
    public func release() -> Bool {
        let handle = state.withLock { state in
            defer { (state.handle, state.isReleased) = (nil, true) }
            return state.handle
        }
        handle?.release()
        return handle != nil
    }
}

extension KeyRequestSlot.Phase {
    /// Whether the player waits for an answer.
    public var isOpen: Bool { if case .open = self { true } else { false } }

    /// Whether the player got the key.
    public var isAnswered: Bool { if case .answered = self { true } else { false } }

    /// Whether the player gets no answer.
    public var isClosed: Bool { if case .closed = self { true } else { false } }

    /// Why the player got no key; nil where it was not told so.
    public var refusal: ContentKeyError? { if case .refused(let error) = self { error } else { nil } }
}
