import LatchkeyCore

/// Where an adapter keeps the handle of a key request that it may give up, or release, before it has one.
///
/// Safe to use from any thread.
public final class KeyRequestSlot: Sendable {
    fileprivate enum State { case empty, filled(KeyRequestHandle), released }

    private let state = Locked(State.empty)

    /// Makes an empty slot.
    public init() {}

    /// Has a loader answer a request, which may happen before this returns. One that was released meanwhile is released.
    public func fill(_ request: some PlayerKeyRequest, from loader: ContentKeyLoader) {
        let handle = loader.answer(request)
        let isReleased = state.withLock { state in
            if case .released = state { return true }
            state = .filled(handle)
            return false
        }
        if isReleased { handle.release() }
    }

    /// Ends the request without an answer, where it was handed over; see `KeyRequestHandle.abandon()`.
    public func abandon() { state.withLock { $0.handle }?.abandon() }

    /// Releases the request, now or when it is handed over; see `KeyRequestHandle.release()`.
    /// - Returns: whether it had been handed over, so that the loader answers it.
    @discardableResult
    public func release() -> Bool {
        let handle = state.withLock { state in
            defer { state = .released }
            return state.handle
        }
        handle?.release()
        return handle != nil
    }
}

extension KeyRequestSlot.State {
    fileprivate var handle: KeyRequestHandle? { if case .filled(let handle) = self { handle } else { nil } }
}
