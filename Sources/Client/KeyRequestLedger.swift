import Foundation
public import LatchkeyCore

/// What an adapter knows of the key requests of one session of its player: those that the player has not said its last word about,
/// those that brought the keys, and who wants them.
///
/// The player's own request and owner objects name requests and owners; an owner is what plays, such as an asset. A value: keep it
/// behind a lock, and call nobody from there.
public struct KeyRequestLedger<Request: SlottedKeyRequest>: Sendable {
    private struct Entry {
        let request: Request
        /// Orders the requests.
        let number: Int
        /// Nil where the owner is not known.
        let owner: ObjectIdentifier?
    }

    private struct Owner {
        weak var object: (any AnyObject & Sendable)?
    }

    /// Names the session to the loader, and no other.
    public let player = PlayerID("KeyRequestLedger \(UUID().uuidString)")
    private let retryLimit: Int
    private let stuckLimit: Int
    private var owners: [Owner] = []
    private var open: [ObjectIdentifier: Entry] = [:]
    private var held: [KeyURI: Entry] = [:]
    private var retries: RetryBudget
    private var staleSPCs = 0
    private var last = 0

    /// Makes an empty ledger.
    /// - Parameters:
    ///   - retries: how often a key is asked for again for one reason, until the player takes it.
    ///   - stuckAfter: after how many stale SPCs in a row the player counts as stuck.
    public init(retries: Int = 3, stuckAfter: Int = 3) {
        retryLimit = retries
        stuckLimit = stuckAfter
        self.retries = RetryBudget(retries)
    }

    /// Whether anything wants keys to play, rather than to store them only.
    public var hasOwners: Bool { !owners.isEmpty }

    /// Whether a key is there or on its way.
    public func knows(_ key: KeyURI) -> Bool {
        held[key] != nil || open.values.contains { $0.request.keyURI == key }
    }
}

// MARK: - What the player says of a request

extension KeyRequestLedger {
    /// Notes a request that the player hands over.
    /// - Parameters:
    ///   - request: the request as the loader sees it.
    ///   - identity: the player's own object.
    ///   - owner: who asks; where that is nil, the only owner there is.
    /// - Returns: false where it was handed over already, and is open.
    public mutating func enter(_ request: Request, as identity: AnyObject, for owner: ObjectIdentifier?) -> Bool {
        guard open[ObjectIdentifier(identity)] == nil else { return false }
        last += 1
        open[ObjectIdentifier(identity)] = Entry(request: request, number: last, owner: owner ?? onlyOwner)
        return true
    }

    /// The player took the key. Of several requests for a key, the newest holds it.
    public mutating func succeed(_ identity: AnyObject) -> Request? {
        staleSPCs = 0
        guard let entry = takeOpen(identity) else { return nil }
        let key = entry.request.keyURI
        retries.refill(key)
        if held[key].map({ $0.number < entry.number }) ?? true { held[key] = entry }
        return entry.request
    }

    /// The player is done with a request that got no key, or whose key it did not take.
    public mutating func fail(_ identity: AnyObject) -> Request? { takeOpen(identity)?.request }

    /// The player asks whether to hand the request over once more; each reason has a count of its own.
    /// - Returns: the request that another follows; nil where the player must not.
    public mutating func retry(_ identity: AnyObject, because reason: String) -> Request? {
        guard let request = open[ObjectIdentifier(identity)]?.request, retries.take(request.keyURI, reason) else {
            return nil
        }
        open[ObjectIdentifier(identity)] = nil
        return request
    }

    /// A renewal failed.
    /// - Returns: the request that brought the key, to renew it once more; nil where that was done often enough.
    public mutating func retryRenewal(of key: KeyURI) -> Request? {
        retries.take(key, "renewal") ? held[key]?.request : nil
    }

    /// Counts the failures in a row that say of a stale SPC, which FairPlay reports in its stuck state (`player-apis.md` §3.14).
    /// - Returns: whether the player is stuck now; said once.
    public mutating func isStuck(after error: any Error) -> Bool {
        let isStale = FairPlayErrorExplanation.chain(of: error).contains { $0.code == staleSPC }
        staleSPCs = isStale ? staleSPCs + 1 : 0
        return staleSPCs == stuckLimit
    }

    /// A key's life is over.
    public mutating func end(_ request: Request) {
        if held[request.keyURI]?.request === request { held[request.keyURI] = nil }
    }

    /// Takes out a request that the player is done with, and those whose place it took.
    private mutating func takeOpen(_ identity: AnyObject) -> Entry? {
        guard let entry = open.removeValue(forKey: ObjectIdentifier(identity)) else { return nil }
        open = open.filter { _, other in
            other.request.keyURI != entry.request.keyURI || other.number > entry.number
                || !other.request.slot.phase.isClosed
        }
        return entry
    }
}

// MARK: - Who wants keys

extension KeyRequestLedger {
    /// Notes who will want keys, and does not keep it alive.
    public mutating func join(_ owner: any AnyObject & Sendable) {
        forget(owner)
        owners.append(Owner(object: owner))
    }

    /// Takes out the requests of an owner that goes, and with the last owner those of nobody in particular.
    /// - Returns: what the adapter has to release.
    public mutating func leave(_ owner: any AnyObject & Sendable) -> [Request] {
        forget(owner)
        let isLast = owners.isEmpty
        let goes = { (entry: Entry) in entry.owner == ObjectIdentifier(owner) || (isLast && entry.owner == nil) }
        let taken = open.values.filter(goes) + held.values.filter(goes)
        open = open.filter { !goes($0.value) }
        held = held.filter { !goes($0.value) }
        return taken.map(\.request)
    }

    /// Takes out all requests and owners, and begins anew for another session.
    /// - Returns: what the adapter has to release.
    public mutating func leaveAll() -> [Request] {
        defer { self = Self(retries: retryLimit, stuckAfter: stuckLimit) }
        return (Array(open.values) + Array(held.values)).map(\.request)
    }

    private mutating func forget(_ owner: any AnyObject & Sendable) {
        owners.removeAll { $0.object == nil || $0.object === owner }
    }

    private var onlyOwner: ObjectIdentifier? {
        let living = owners.compactMap(\.object)
        return living.count == 1 ? living.first.map { ObjectIdentifier($0) } : nil
    }
}

private let staleSPC = -42669
