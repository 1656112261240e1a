import LatchkeyCore

/// A player's key request that its adapter ends as well as the loader does.
public protocol SlottedKeyRequest: PlayerKeyRequest, AnyObject {
    /// Keeps the handle, and what the player was told.
    var slot: KeyRequestSlot { get }
}

extension SlottedKeyRequest {
    /// Has a loader answer the request, where the player still waits for an answer.
    public func start(_ loader: ContentKeyLoader) {
        if slot.phase.isOpen { slot.fill(self, from: loader) }
    }

    /// Says that the key is not needed any more: an open request is answered with `cancelled`.
    public func release() {
        if !slot.release() { answer(.failure(.released)) }
    }

    /// Says that the player did not take the key: nothing keeps it alive. A renewal's key is the one before it, which stays.
    public func giveBack() {
        if purpose == .renewal { slot.abandon() } else { release() }
    }
}

extension ContentKeyError {
    /// The answer to a request whose player needs the key no more.
    public static let released = ContentKeyError(
        .cancelled, "The player needs the key no more.", remedy: "Ask again if the key is still wanted.")
}
