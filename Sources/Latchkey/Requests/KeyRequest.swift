import LatchkeyCore
import LatchkeyVendors

/// A player's key request, from the player's call until the player releases the key.
///
/// The loader answers it exactly once, and keeps the key alive from then on. Releasing the object changes nothing.
/// Safe to use from any thread.
public final class KeyRequest: Sendable {
    /// Identifies a key of a player.
    struct Key: Sendable, Hashable {
        let player: PlayerID
        let uri: KeyURI
    }

    /// The values that a request gets when the loader takes it.
    struct Registration: Sendable {
        /// Counts the loader's requests from 1; events call it `exchange`.
        let number: Int
        /// The number of the request that first got the key. A renewal has the generation of the key that it renews.
        let generation: Int
        /// The title of the key that the request renews; `nil` if it renews none, or the title is not known.
        let renewed: AssetID?
    }

    /// How the player or its adapter ends a request.
    enum Ending: Sendable { case cancel, abandon, release }

    private struct Work {
        var task: Task<Void, Never>?
        var isStopped = false
    }

    let registration: Registration
    let key: Key
    let purpose: KeyPurpose
    /// The title that the key belongs to; `nil` if it is not known.
    var asset: AssetID? { trace.asset }
    /// The player's own request.
    let playerRequest: any PlayerKeyRequest
    let trace: Trace
    private let end: @Sendable (KeyRequest, Ending) -> Void
    private let work = Locked(Work())

    init(
        _ registration: Registration, _ key: Key, _ purpose: KeyPurpose, _ playerRequest: any PlayerKeyRequest,
        _ trace: Trace, end: @escaping @Sendable (KeyRequest, Ending) -> Void = { _, _ in }
    ) {
        self.registration = registration
        self.key = key
        self.purpose = purpose
        self.playerRequest = playerRequest
        self.trace = trace
        self.end = end
    }

    var number: Int { registration.number }
    var generation: Int { registration.generation }

    /// Ends the request with the error `cancelled`. A key that was answered stays.
    public func cancel() { end(self, .cancel) }

    /// Ends the request without an answer, for a player that has given up on it. A key that was answered stays.
    @_spi(Adapters) public func abandon() { end(self, .abandon) }

    /// Releases the key: a pending request ends with the error `cancelled`, and an answered key is no longer renewed. Releasing the
    /// first request of a key also stops its renewals.
    public func release() { end(self, .release) }
}

// MARK: - The work on the answer

extension KeyRequest {
    /// Starts the work that ends with an answer.
    func start(_ body: @escaping @Sendable (KeyRequest) async -> Void) {
        let task = startTask { await body(self) }
        let isStopped = work.withLock { work in
            work.task = task
            return work.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// Cancels the work, or the work that is started later.
    func stopWork() {
        let task = work.withLock { work in
            work.isStopped = true
            return work.task
        }
        task?.cancel()
    }

    /// Waits until the work has ended.
    func workEnded() async { await work.withLock { $0.task }?.value }
}
