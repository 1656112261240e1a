package import Foundation
import LatchkeyCore

/// A player's only reply to its key request, and the loader's request for it.
///
/// An adapter may abandon or release it before the loader has the request. Safe to use from any thread.
package final class PlayerReply: Sendable {
    /// The player's answer.
    package enum State: Sendable {
        /// Nothing yet.
        case pending
        /// The key.
        case answered
        /// Why there is no key.
        case refused(ContentKeyError)
        /// Nothing: the system holds the key, and no answer is due.
        case heldBySystem
        /// Nothing: the player no longer wants an answer.
        case abandoned
    }

    private struct Contents {
        /// The loader retains it as long as it matters. It retains the player's request, and thereby this reply.
        weak var request: KeyRequest?
        var isAttached = false
        var isReleased = false
        var state = State.pending
    }

    private let contents = Locked(Contents())

    package init() {}

    /// The player's answer so far.
    package var state: State { contents.withLock { $0.state } }

    /// Stores the loader's request, which may have its answer already. Ends it if the reply was released or abandoned before.
    package func attach(_ request: KeyRequest) {
        let (isReleased, isAbandoned) = contents.withLock { contents in
            let isAbandoned = contents.state.isAbandoned
            if !contents.isReleased, !isAbandoned { (contents.request, contents.isAttached) = (request, true) }
            return (contents.isReleased, isAbandoned)
        }
        if isReleased { request.release() } else if isAbandoned { request.abandon() }
    }

    /// Claims the right to answer the player.
    /// - Returns: whether to answer the player; `true` once, and only while the player wants an answer.
    package func resolve(_ result: Result<Data, ContentKeyError>) -> Bool {
        switch result {
        case .success: resolve(.answered)
        case .failure(let error): resolve(.refused(error))
        }
    }

    /// Notes that the system holds the key, so that the player gets no answer. A `ReplyingKeyRequest` calls this itself.
    package func resolveHeldBySystem() { _ = resolve(.heldBySystem) }

    /// Ends the request without an answer, because the player no longer wants one; see `KeyRequest.abandon()`.
    package func abandon() {
        _ = resolve(.abandoned)
        contents.withLock { $0.request }?.abandon()
    }

    /// Releases the loader's request, now or when it is attached; see `KeyRequest.release()`.
    /// - Returns: whether a request was attached, so that the loader answers it.
    @discardableResult
    package func release() -> Bool {
        let (request, isAttached) = contents.withLock { contents in
            contents.isReleased = true
            return (contents.request, contents.isAttached)
        }
        request?.release()
        return isAttached
    }

    private func resolve(_ state: State) -> Bool {
        contents.withLock { contents in
            guard contents.state.isPending else { return false }
            contents.state = state
            return true
        }
    }
}

extension PlayerReply.State {
    /// Whether the player waits for an answer.
    package var isPending: Bool { if case .pending = self { true } else { false } }

    /// Whether the player got the key.
    package var isAnswered: Bool { if case .answered = self { true } else { false } }

    /// Whether the system holds the key.
    package var isHeldBySystem: Bool { if case .heldBySystem = self { true } else { false } }

    /// Whether the player no longer wants an answer.
    package var isAbandoned: Bool { if case .abandoned = self { true } else { false } }

    /// Why the player got no key; `nil` if it was not notified.
    package var refusal: ContentKeyError? { if case .refused(let error) = self { error } else { nil } }
}

/// A player's key request that its adapter may end before the loader does.
package protocol ReplyingKeyRequest: PlayerKeyRequest, AnyObject {
    /// The reply to the player.
    var reply: PlayerReply { get }
}

extension ReplyingKeyRequest {
    package func systemHoldsKey() { reply.resolveHeldBySystem() }

    /// Hands the request to a loader if the player still waits for an answer.
    package func start(_ loader: ContentKeyLoader) {
        if reply.state.isPending { reply.attach(loader.answer(self)) }
    }

    /// Releases the key; a pending request is answered with `cancelled`.
    package func release() {
        if !reply.release() { answer(.failure(.released)) }
    }

    /// Discards a key that the player rejected. A renewal keeps the key that it was for.
    package func discard() {
        if purpose == .renewal { reply.abandon() } else { release() }
    }
}

extension ContentKeyError {
    /// The answer to a request that the player released.
    package static let released = ContentKeyError(
        .cancelled, "The player needs the key no more.", remedy: "Request the key again if it is still needed.")
}
