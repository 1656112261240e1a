import Foundation
@_spi(Adapters) import Latchkey

/// The key requests of one content key session: the pending ones, those that brought a key, and the owners that need the keys.
///
/// The player's own objects identify requests and owners; an owner is what plays, such as an asset. A value type: guard it with a
/// lock, and do not call out while holding the lock.
nonisolated struct SessionRequests<Request: ReplyingKeyRequest>: Sendable {
    private struct Entry {
        let request: Request
        /// Orders the requests.
        let number: Int
        /// `nil` if the owner is not known.
        let owner: ObjectIdentifier?
    }

    private struct Owner {
        weak var object: (any AnyObject & Sendable)?
        /// The app's name for what plays.
        let name: AssetID?
    }

    /// Identifies the session to the loader.
    let player = PlayerID("SessionRequests \(UUID().uuidString)")
    private let retryLimit: Int
    private let stuckLimit: Int
    private var owners: [Owner] = []
    private var pending: [ObjectIdentifier: Entry] = [:]
    private var held: [KeyURI: Entry] = [:]
    /// The keys that are renewed no more.
    private var ended: [KeyURI: Entry] = [:]
    /// Those of them that the player was asked to renew.
    private var returning: Set<KeyURI> = []
    /// The titles of keys that the app asked for itself.
    private var named: [KeyURI: AssetID] = [:]
    private var retries: RetryBudget
    private var staleSPCs = 0
    private var last = 0

    /// - Parameters:
    ///   - retries: how often a key is asked for again for one reason, until the player takes it.
    ///   - stuckAfter: how many stale SPCs in a row mean that the player is stuck.
    init(retries: Int = 3, stuckAfter: Int = 3) {
        retryLimit = retries
        stuckLimit = stuckAfter
        self.retries = RetryBudget(retries)
    }

    /// What needs keys to play, and still lives.
    var livingOwners: [any AnyObject & Sendable] { owners.compactMap(\.object) }

    /// Whether anything needs keys to play, rather than only to store them.
    var hasOwners: Bool { !owners.isEmpty }

    /// Whether a key is present or requested.
    func contains(_ key: KeyURI) -> Bool {
        held[key] != nil || isPending(key)
    }

    /// The title that a key belongs to: that of the owner that asks, that which the app named with the key, or that of an earlier request
    /// for the key; otherwise that of the only owner. `nil` if it is not known.
    func asset(of key: KeyURI, for owner: ObjectIdentifier? = nil) -> AssetID? {
        let earlier = held[key] ?? pending.values.first { $0.request.keyURI == key }
        return name(of: known(owner)) ?? named[key] ?? earlier?.request.asset ?? name(of: onlyOwner)
    }

    /// Names the title of a key before the key is requested.
    mutating func name(_ asset: AssetID?, of key: KeyURI) { if let asset { named[key] = asset } }

    /// Whether a key is requested.
    func isPending(_ key: KeyURI) -> Bool { pending.values.contains { $0.request.keyURI == key } }
}

// MARK: - What the player says about a request

nonisolated extension SessionRequests {
    /// Adds a request that the player hands over.
    /// - Parameters:
    ///   - request: the request as the loader sees it.
    ///   - identity: the player's own object.
    ///   - owner: who asks. If `nil` or not added, as for an interstitial, the request belongs to the only owner.
    /// - Returns: `false` if the request was added before and is pending.
    mutating func add(_ request: Request, as identity: AnyObject, for owner: ObjectIdentifier?) -> Bool {
        guard pending[ObjectIdentifier(identity)] == nil else { return false }
        last += 1
        pending[ObjectIdentifier(identity)] = Entry(request: request, number: last, owner: known(owner) ?? onlyOwner)
        return true
    }

    /// Moves a request to the held keys: the player took the key, or its system had it. The newest request holds a key.
    mutating func succeed(_ identity: AnyObject) -> Request? {
        staleSPCs = 0
        guard let entry = finish(identity) else { return nil }
        let key = entry.request.keyURI
        retries.reset(key)
        if held[key].map({ $0.number < entry.number }) ?? true { held[key] = entry }
        ended[key] = nil
        return entry.request
    }

    /// Removes a request that got no key, or whose key the player rejected.
    mutating func fail(_ identity: AnyObject) -> Request? { finish(identity)?.request }

    /// Decides whether the player may hand a request over again; each reason has its own count.
    /// - Returns: the request to replace; `nil` if the player must not retry.
    mutating func retry(_ identity: AnyObject, because reason: String) -> Request? {
        guard let request = pending[ObjectIdentifier(identity)]?.request, retries.take(request.keyURI, reason) else {
            return nil
        }
        pending[ObjectIdentifier(identity)] = nil
        return request
    }

    /// Decides whether a failed renewal is repeated.
    /// - Returns: the request that brought the key; `nil` if its retries are spent.
    mutating func retryRenewal(of key: KeyURI) -> Request? {
        retries.take(key, "renewal") ? held[key]?.request : nil
    }

    /// Counts consecutive failures with a stale SPC, which FairPlay reports in its stuck state.
    /// - Returns: `true` once, when the player is stuck. Source: `Documentation/Players.md` §3.14.
    mutating func isStuck(after error: any Error) -> Bool {
        let isStale = FairPlayErrorExplanation.chain(of: error).contains { $0.code == staleSPC }
        staleSPCs = isStale ? staleSPCs + 1 : 0
        return staleSPCs == stuckLimit
    }

    /// Removes the request that brought a key.
    mutating func remove(_ key: KeyURI) -> Request? { held.removeValue(forKey: key)?.request }

    /// Keeps the request of a key that is renewed no more, so that it can be renewed when it is wanted again; the newest few of them.
    mutating func keyEnded(_ request: Request) {
        guard let entry = held[request.keyURI], entry.request === request else { return }
        held[request.keyURI] = nil
        ended[request.keyURI] = entry
        if ended.count > endedLimit, let oldest = ended.min(by: { $0.value.number < $1.value.number }) {
            ended[oldest.key] = nil
        }
    }

    /// The requests of keys that ended, to be renewed; each until that has ended, too.
    mutating func takeEnded() -> [Request] {
        let taken = ended.values.filter { !contains($0.request.keyURI) && !returning.contains($0.request.keyURI) }
        returning.formUnion(taken.map(\.request.keyURI))
        return taken.sorted { $0.number < $1.number }.map(\.request)
    }

    /// Removes a pending request, and the abandoned requests that it replaced.
    private mutating func finish(_ identity: AnyObject) -> Entry? {
        guard let entry = pending.removeValue(forKey: ObjectIdentifier(identity)) else { return nil }
        returning.remove(entry.request.keyURI)
        pending = pending.filter { _, other in
            other.request.keyURI != entry.request.keyURI || other.number > entry.number
                || !other.request.reply.state.isAbandoned
        }
        return entry
    }
}

// MARK: - Owners

nonisolated extension SessionRequests {
    /// Adds an owner that will need keys, without keeping it alive.
    /// - Parameter name: the app's name for it. Defaults to `nil`: none.
    mutating func addOwner(_ owner: any AnyObject & Sendable, as name: AssetID? = nil) {
        forget(owner)
        owners.append(Owner(object: owner, name: name))
    }

    /// Removes an owner and its requests; the last owner's removal includes the requests without an owner.
    /// - Returns: the requests to release.
    mutating func removeOwner(_ owner: any AnyObject & Sendable) -> [Request] {
        let name = name(of: ObjectIdentifier(owner))
        forget(owner)
        if !owners.contains(where: { $0.name == name }) { named = named.filter { $0.value != name } }
        let isLast = owners.isEmpty
        let isRemoved = { (entry: Entry) in entry.owner == ObjectIdentifier(owner) || (isLast && entry.owner == nil) }
        let removed = pending.values.filter(isRemoved) + held.values.filter(isRemoved)
        pending = pending.filter { !isRemoved($0.value) }
        held = held.filter { !isRemoved($0.value) }
        ended = ended.filter { !isRemoved($0.value) }
        return removed.map(\.request)
    }

    /// Removes all requests and owners, and starts over with another player identity.
    /// - Returns: the requests to release.
    mutating func removeAll() -> [Request] {
        defer { self = Self(retries: retryLimit, stuckAfter: stuckLimit) }
        return (Array(pending.values) + Array(held.values)).map(\.request)
    }

    private mutating func forget(_ owner: any AnyObject & Sendable) {
        owners.removeAll { $0.object == nil || $0.object === owner }
    }

    private func name(of owner: ObjectIdentifier?) -> AssetID? {
        owners.first { $0.object.map { ObjectIdentifier($0) } == owner }?.name
    }

    private func known(_ owner: ObjectIdentifier?) -> ObjectIdentifier? {
        owners.contains { $0.object.map { ObjectIdentifier($0) } == owner } ? owner : nil
    }

    private var onlyOwner: ObjectIdentifier? {
        let living = owners.compactMap(\.object)
        return living.count == 1 ? living.first.map { ObjectIdentifier($0) } : nil
    }
}

private nonisolated let staleSPC = -42669
/// A live stream has no end of keys that rotated out.
private nonisolated let endedLimit = 16
