import LatchkeyCore
import LatchkeyVendors

/// The record of every key of a loader: pending requests, held keys, and keys whose leases ended.
///
/// Keys belong to players; a player is anything that plays one source, such as a content key session with its asset. Suspending a player
/// stops its renewals and remembers its leases; releasing it ends its requests and forgets its keys.
///
/// A value: each event changes states and returns the effects to run, so that no lock is held during a call.
struct KeyRequestTable {
    /// The effects of an event, in order.
    enum Effect: Sendable {
        case answer(KeyRequest, Result<Secret, ContentKeyError>)
        case systemHoldsKey(KeyRequest)
        case stopWork(KeyRequest)
        case send(KeyRequest, KeyEvent.Kind)
        /// Announces the renewal of the key that the player is about to get.
        case planRenewal(KeyRequest, after: Duration)
        /// The player is asked to renew the key.
        case renew(KeyRequest)
        /// The player is asked whether it still needs the key, because newer ones came.
        case review(KeyRequest)
        /// Informs the player that the key is no longer renewed.
        case lapse(KeyRequest)
        case end(KeyRequest, ContentKeyError)
        /// The player has no request left, or was released.
        case endSource(PlayerID)
    }

    /// How the work on a request ended.
    enum Outcome: Sendable {
        case license(Secret, RenewalPlan?)
        case heldBySystem
        case failure(ContentKeyError)
    }

    struct Record {
        let request: KeyRequest
        var state: KeyRequestState
        /// When the key was first requested, by the timekeeper's uptime.
        var asked: Duration
        /// Since when no playlist names the key; `nil` if one does, or none was read.
        var absentSince: Duration?
        /// The lifetime of the license; `nil` if unknown or unlimited.
        var lease: Duration?
        /// When the lease ends, by the timekeeper's uptime.
        var leaseEnd: Duration?
        /// Whether the lease has ended while the app was away, and a last renewal may bring the key back.
        var isOverdue = false
        var failures = 0
        /// The code of the last failed renewal.
        var lastFailure: String?
    }

    let policy: LeasePolicy
    /// How long a player may take to renew a key when it is asked to.
    let patience: Duration
    /// Whether answered keys are held.
    let holdsKeys: Bool
    /// The maximum number of keys held, whatever the policy says about rotation.
    private let mostKeys: Int
    /// The requests that have not ended, by number.
    var records: [Int: Record] = [:]
    /// The numbers of the requests that hold a key.
    var holders: [KeyRequest.Key: Int] = [:]
    /// The last requests of keys that are no longer renewed and that the player may still renew on demand.
    private(set) var lapsed: [KeyRequest.Key: KeyRequest] = [:]
    /// The lapsed keys that their players were asked to renew.
    private var returning: Set<KeyRequest.Key> = []
    /// The players whose renewals are suspended.
    private(set) var suspended: Set<PlayerID> = []
    /// When the next key is due, by the timekeeper's uptime; may be earlier, but not later. `nil` if none is.
    var alarm: Duration?
    /// The number of the source that each player plays.
    private var sources: [PlayerID: Int] = [:]
    private var lastSource = 0
    private(set) var isClosed = false
    private var last = 0

    init(_ policy: LeasePolicy, patience: Duration, holdsKeys: Bool = true, mostKeys: Int = 256) {
        self.policy = policy
        self.patience = patience
        self.holdsKeys = holdsKeys
        self.mostKeys = max(1, mostKeys, policy.heldKeys)
    }

    /// The state of the request with a number.
    subscript(number: Int) -> KeyRequestState {
        get { records[number]?.state ?? .ended }
        set { records[number]?.state = newValue }
    }

    /// The number of the request that holds the key of a request's generation.
    func holder(of request: KeyRequest) -> Int? {
        holders[request.key].flatMap { records[$0]?.request.generation == request.generation ? $0 : nil }
    }
}

// MARK: - From the player's call to its answer

extension KeyRequestTable {
    /// Numbers a request. A renewal belongs to the generation of the held key.
    mutating func register(_ key: KeyRequest.Key, _ purpose: KeyPurpose) -> KeyRequest.Registration {
        last += 1
        guard purpose == .renewal else { return KeyRequest.Registration(number: last, generation: last, renewed: nil) }
        let held = holders[key].flatMap { records[$0]?.request }
        let renewed = held ?? lapsed[key]
        return KeyRequest.Registration(number: last, generation: held?.generation ?? last, renewed: renewed?.asset)
    }

    /// Adds a request; once the table is closed it is answered with `cancelled`.
    mutating func add(_ request: KeyRequest) -> [Effect] {
        records[request.number] = Record(request: request, state: .pending, asked: request.trace.start)
        if request.number != request.generation, let holder = holder(of: request) {
            self[holder] = .renewing(by: request.number)
            setAlarm(for: holder)
        }
        return isClosed ? stop(request, .cancelled) : []
    }

    /// Finishes a request whose work has ended.
    /// - Parameter now: the timekeeper's uptime.
    mutating func finish(
        _ request: KeyRequest, _ outcome: Outcome, at now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        let took = now - request.trace.start
        var effects: [Effect]
        returning.remove(request.key)
        switch (self[request.number], outcome) {
        case (.pending, .license(let ckc, let plan)):
            effects = hold(request, plan, at: now)
            effects += [.answer(request, .success(ckc)), .send(request, .answered(took: took))] + removeOldest()
        case (.pending, .heldBySystem):
            remove(request.number)
            if let holder = holder(of: request) { remove(holder) }
            effects = [.systemHoldsKey(request), .send(request, .heldBySystem(took: took))]
        case (let state, _):
            var error = ContentKeyError.cancelled
            if case .failure(let failure) = outcome { error = failure }
            remove(request.number)
            effects = state == .pending ? [.answer(request, .failure(error))] : []
            effects += renewalFailed(request, error, at: now, using: &generator)
            effects.append(.send(request, .failed(error, took: took)))
        }
        return effects + endSourceIfEmpty(request.key.player)
    }

    /// Keeps a request's key alive, in place of an older one; ends the request if a newer one holds the key, or the player only
    /// stores it.
    private mutating func hold(_ request: KeyRequest, _ plan: RenewalPlan?, at now: Duration) -> [Effect] {
        let older = holders[request.key].flatMap { records[$0]?.request.generation }
        let isRenewal = request.number != request.generation
        // A later request for the same key may have been answered before this one.
        let isWanted = isRenewal ? older == request.generation : (older ?? 0) < request.generation
        lapsed[request.key] = nil
        guard isWanted, holdsKeys, request.playerRequest.playsKey else {
            remove(request.number)
            return []
        }
        if let replaced = holders[request.key].flatMap({ remove($0) }), isRenewal {
            records[request.number]?.asked = replaced.asked
            records[request.number]?.absentSince = replaced.absentSince
        }
        holders[request.key] = request.number
        self[request.number] = .held(renewal: plan.map { now + $0.delay })
        records[request.number]?.lease = plan?.lease
        records[request.number]?.leaseEnd = plan?.lease.map { now + $0 }
        setAlarm(for: request.number)
        guard let plan else { return [] }
        return [
            .send(request, .renewalPlanned(after: plan.delay, lease: plan.lease)),
            .planRenewal(request, after: plan.delay),
        ]
    }

    /// Lets the oldest key lapse if too many are held.
    private mutating func removeOldest() -> [Effect] {
        guard holders.count > mostKeys,
            let oldest = holders.values.min(by: { generation($0) < generation($1) })
        else { return [] }
        return lapse(oldest)
    }

    /// Stops renewing a key.
    mutating func lapse(_ number: Int) -> [Effect] {
        guard let record = remove(number) else { return [] }
        keepLapsed(record.request)
        return [.send(record.request, .evicted), .lapse(record.request)]
    }

    func generation(_ number: Int) -> Int { records[number]?.request.generation ?? 0 }
}

// MARK: - What ends a request

extension KeyRequestTable {
    /// Ends a request as its player or adapter asks.
    mutating func end(_ request: KeyRequest, _ ending: KeyRequest.Ending) -> [Effect] {
        switch ending {
        case .cancel: stop(request, .cancelled)
        case .abandon: stop(request, nil)
        case .release: stop(request, .cancelled) + release(request) + endSourceIfEmpty(request.key.player)
        }
    }

    private mutating func release(_ request: KeyRequest) -> [Effect] {
        guard let holder = holder(of: request), let released = remove(holder) else { return [] }
        return [.send(released.request, .released)]
    }

    /// Stops the work on a pending request, and answers it with an error.
    mutating func stop(_ request: KeyRequest, _ error: ContentKeyError?) -> [Effect] {
        guard self[request.number] == .pending else { return [] }
        self[request.number] = .stopping
        return [.stopWork(request)] + (error.map { [.answer(request, .failure($0))] } ?? [])
    }

    /// Answers all pending requests with an error, and releases all keys. Later requests are answered with `cancelled`.
    mutating func close(_ error: ContentKeyError = .cancelled) -> [Effect] {
        isClosed = true
        // Last first: a request that waits for a host's turn must not get the turn of one that ended before it.
        let pending = records.values.map(\.request).sorted { $0.number > $1.number }
        for number in holders.values { remove(number) }
        (lapsed, returning) = ([:], [])
        return pending.flatMap { stop($0, error) }
    }

    @discardableResult
    mutating func remove(_ number: Int) -> Record? {
        guard let record = records.removeValue(forKey: number) else { return nil }
        if holders[record.request.key] == number { holders[record.request.key] = nil }
        if holders.isEmpty { alarm = nil }
        return record
    }
}

// MARK: - Players

extension KeyRequestTable {
    /// The number of the source that a player plays; 0 for none, `nil` once the table is closed.
    func source(of player: PlayerID) -> Int? { isClosed ? nil : sources[player] ?? 0 }

    /// Begins a player's source, unless it has begun.
    /// - Parameter number: the request that needs it; 0 for a license without a request.
    /// - Returns: `false` if the request is no longer pending.
    mutating func beginSource(of player: PlayerID, for number: Int) -> Bool {
        guard !isClosed, number == 0 || self[number] == .pending else { return false }
        guard sources[player] == nil else { return true }
        lastSource += 1
        sources[player] = lastSource
        return true
    }

    /// Releases a player: its pending requests end with `cancelled`, its keys are not renewed, and its source ends.
    mutating func release(_ player: PlayerID) -> [Effect] {
        let own = records.values.filter { $0.request.key.player == player }.sorted {
            $0.request.number > $1.request.number
        }
        let effects = own.flatMap { record -> [Effect] in
            guard record.state.isHeld else { return stop(record.request, .cancelled) }
            remove(record.request.number)
            return [.send(record.request, .released)]
        }
        lapsed = lapsed.filter { $0.key.player != player }
        returning = returning.filter { $0.player != player }
        suspended.remove(player)
        return effects + endSource(player)
    }

    /// Renews no key of a player until it is resumed.
    mutating func suspend(_ player: PlayerID) { suspended.insert(player) }

    /// Renews a player's keys again. Overdue keys are renewed immediately.
    mutating func resume(_ player: PlayerID) {
        guard suspended.remove(player) != nil else { return }
        for (key, number) in holders where key.player == player { setAlarm(for: number) }
    }

    /// Whether a player holds keys and none of their leases has ended.
    func holdsLiveKeys(_ player: PlayerID, at now: Duration) -> Bool {
        let own = holders.filter { $0.key.player == player }.compactMap { records[$0.value] }
        return !own.isEmpty && own.allSatisfy { $0.leaseEnd.map { $0 > now } ?? true }
            && !lapsed.keys.contains { $0.player == player }
    }

    /// Whether a player holds a key that will be renewed.
    func renews(_ key: KeyRequest.Key) -> Bool {
        guard let record = holders[key].flatMap({ records[$0] }) else { return false }
        return record.leaseEnd != nil || record.state != .held(renewal: nil)
    }

    /// The latest request of a key: the request that holds it, a pending one, or the last one of a key that lapsed.
    func request(of key: KeyRequest.Key) -> KeyRequest? {
        let holder = holders[key].flatMap { records[$0]?.request }
        return holder ?? records.values.first { $0.request.key == key }?.request ?? lapsed[key]
    }

    /// Takes a player's lapsed keys to have them renewed; each of them again only after its renewal has ended.
    mutating func takeLapsed(of player: PlayerID) -> [KeyRequest] {
        let pending = Set(records.values.map(\.request.key))
        let taken = lapsed.filter {
            $0.key.player == player && !pending.contains($0.key) && !returning.contains($0.key)
        }
        returning.formUnion(taken.keys)
        return taken.values.sorted { $0.number < $1.number }
    }

    /// Notes that a player cannot renew a lapsed key.
    mutating func cannotReturn(_ request: KeyRequest) { returning.remove(request.key) }

    mutating func keepLapsed(_ request: KeyRequest) {
        lapsed[request.key] = request
        let own = lapsed.filter { $0.key.player == request.key.player }
        if own.count > Self.lapsedLimit, let oldest = own.min(by: { $0.value.number < $1.value.number }) {
            lapsed[oldest.key] = nil
        }
    }

    /// A live stream rotates out keys endlessly.
    private static let lapsedLimit = 16

    private mutating func endSource(_ player: PlayerID) -> [Effect] {
        sources[player] = nil
        return [.endSource(player)]
    }

    /// A player's source ends with its last request.
    private mutating func endSourceIfEmpty(_ player: PlayerID) -> [Effect] {
        records.values.contains { $0.request.key.player == player } ? [] : endSource(player)
    }
}
