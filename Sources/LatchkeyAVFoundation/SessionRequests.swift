import Foundation
@_spi(Adapters) import Latchkey

/// The requests of one content key session: open ones, and accepted ones whose keys it holds.
///
/// The loader knows how long a key lives. This type only matches the player's objects to the loader's, and remembers the keys
/// that the session will not request again. A value type: guard it with a lock, and do not call out while holding the lock.
nonisolated struct SessionRequests<Request: ReplyingKeyRequest>: Sendable {
    private struct Entry {
        let request: Request
        /// The order of the requests.
        let number: Int
    }

    private let stuckLimit: Int
    private var open: [ObjectIdentifier: Entry] = [:]
    /// The last accepted request of each key. A session uses it to renew the key, and never requests the key again.
    private var taken: [KeyURI: Entry] = [:]
    /// The titles of keys that the app requested itself.
    private var named: [KeyURI: AssetID] = [:]
    private var retries: RetryBudget
    private var staleSPCs = 0
    private var last = 0

    /// - Parameters:
    ///   - retries: how often a key is requested again for one reason, until the player accepts it.
    ///   - stuckAfter: the number of consecutive stale SPCs after which the player counts as stuck.
    init(retries: Int = 3, stuckAfter: Int = 3) {
        stuckLimit = stuckAfter
        self.retries = RetryBudget(retries)
    }

    /// The open requests, oldest first.
    var openRequests: [Request] { open.values.sorted { $0.number < $1.number }.map(\.request) }

    /// The keys that the session accepted or is requesting.
    var keys: Set<KeyURI> { Set(taken.keys).union(open.values.map(\.request.keyURI)) }

    /// Whether the session accepted no key and is requesting none.
    var isEmpty: Bool { taken.isEmpty && open.isEmpty }

    /// The request with which a session renews a key; `nil` if it accepted no such key.
    subscript(key: KeyURI) -> Request? { taken[key]?.request }

    /// Whether a key is being requested.
    func isOpen(_ key: KeyURI) -> Bool { open.values.contains { $0.request.keyURI == key } }

    /// The title under which the app requested a key.
    func asset(of key: KeyURI) -> AssetID? { named[key] }

    /// Names the title of a key before the key is requested.
    mutating func name(_ asset: AssetID?, of key: KeyURI) { if let asset { named[key] = asset } }

    /// Adds a request from the player.
    /// - Parameters:
    ///   - request: the request in the loader's form.
    ///   - identity: the player's own object.
    /// - Returns: `false` if the request was added before and is open.
    mutating func add(_ request: Request, as identity: AnyObject) -> Bool {
        guard open[ObjectIdentifier(identity)] == nil else { return false }
        last += 1
        open[ObjectIdentifier(identity)] = Entry(request: request, number: last)
        return true
    }

    /// Records that the player accepted a key, or that its system had it.
    mutating func succeed(_ identity: AnyObject) -> Request? {
        staleSPCs = 0
        guard let entry = finish(identity) else { return nil }
        let key = entry.request.keyURI
        retries.reset(key)
        if taken[key].map({ $0.number < entry.number }) ?? true { taken[key] = entry }
        return entry.request
    }

    /// Removes a request that got no key, or whose key the player rejected.
    mutating func fail(_ identity: AnyObject) -> Request? { finish(identity)?.request }

    /// Decides whether the player may repeat a request; each reason has its own count.
    /// - Returns: the request to replace; `nil` if the player must not retry.
    mutating func retry(_ identity: AnyObject, because reason: String) -> Request? {
        guard let request = open[ObjectIdentifier(identity)]?.request, retries.take(request.keyURI, reason) else {
            return nil
        }
        open[ObjectIdentifier(identity)] = nil
        return request
    }

    /// Decides whether a failed renewal is repeated.
    /// - Returns: the request that brought the key; `nil` if its retries are spent.
    mutating func retryRenewal(of key: KeyURI) -> Request? { retries.take(key, "renewal") ? self[key] : nil }

    /// Counts consecutive failures with a stale SPC, which FairPlay reports in its stuck state.
    /// - Returns: `true` once, when the player is stuck. Source: `Documentation/Players.md` §3.14.
    mutating func isStuck(after error: any Error) -> Bool {
        let isStale = FairPlayErrorExplanation.chain(of: error).contains { $0.code == staleSPC }
        staleSPCs = isStale ? staleSPCs + 1 : 0
        return staleSPCs == stuckLimit
    }

    /// Removes a key, so that the session no longer renews it.
    mutating func remove(_ key: KeyURI) -> Request? { taken.removeValue(forKey: key)?.request }

    /// Removes an open request, and the abandoned requests that it replaced.
    private mutating func finish(_ identity: AnyObject) -> Entry? {
        guard let entry = open.removeValue(forKey: ObjectIdentifier(identity)) else { return nil }
        open = open.filter { _, other in
            other.request.keyURI != entry.request.keyURI || other.number > entry.number
                || !other.request.reply.state.isAbandoned
        }
        return entry
    }
}

private nonisolated let staleSPC = -42669
