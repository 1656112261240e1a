import LatchkeyCore
import LatchkeyVendors

/// All requests of a loader: the pending ones, and those whose keys are held.
///
/// A value: each event changes states and returns the effects to run, so that nobody is called while a lock is held.
struct KeyRequestTable {
    /// What happens because of an event, in order.
    enum Effect: Sendable {
        case answer(KeyRequest, Result<Secret, ContentKeyError>)
        case systemHoldsKey(KeyRequest)
        case stopWork(KeyRequest)
        case send(KeyRequest, KeyEvent.Kind)
        /// The player is told when to renew the key that it is about to get.
        case planRenewal(KeyRequest, after: Duration)
        /// The player is asked to renew the key.
        case renew(KeyRequest)
        /// The player is asked whether it still needs the key, because newer ones came.
        case review(KeyRequest)
        /// The player is told that the key is renewed no more.
        case lapse(KeyRequest)
        case end(KeyRequest, ContentKeyError)
        /// No request is left, or the player goes on to another source.
        case endSource
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
        /// Whether the key is held when it comes; `false` once the player goes on to another source.
        var isWanted: Bool
        /// When the key was first asked for, by the timekeeper's uptime.
        var asked: Duration
        /// Since when no playlist names the key; `nil` if one does, or none was read.
        var absentSince: Duration?
        /// How long the license lives; `nil` if that is not known or has no end.
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
    /// How many keys are held at most, whatever the policy says of rotation.
    private let mostKeys: Int
    /// The requests that have not ended, by number.
    var records: [Int: Record] = [:]
    /// The numbers of the requests that hold a key.
    var holders: [KeyRequest.Key: Int] = [:]
    /// When something is due, by the timekeeper's uptime; may be earlier, but not later. `nil` if nothing is.
    var alarm: Duration?
    /// The number of the source that plays; `nil` once the table is closed.
    private(set) var source: Int? = 1
    private var last = 0

    init(_ policy: LeasePolicy, patience: Duration, holdsKeys: Bool = true, mostKeys: Int = 256) {
        self.policy = policy
        self.patience = patience
        self.holdsKeys = holdsKeys
        self.mostKeys = max(1, mostKeys, policy.heldKeys)
    }

    /// The state of a request of a number.
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
    /// Numbers a request. A renewal belongs to the generation of the key that is held.
    mutating func register(_ key: KeyRequest.Key, _ purpose: KeyPurpose) -> KeyRequest.Registration {
        last += 1
        let held = purpose == .renewal ? holders[key].flatMap { records[$0]?.request } : nil
        return KeyRequest.Registration(number: last, generation: held?.generation ?? last, renewed: held?.asset)
    }

    /// Adds a request; once the table is closed it is answered with `cancelled`.
    mutating func add(_ request: KeyRequest) -> [Effect] {
        records[request.number] = Record(
            request: request, state: .pending, isWanted: holdsKeys, asked: request.trace.start)
        if request.number != request.generation, let holder = holder(of: request) {
            self[holder] = .renewing(by: request.number)
            setAlarm(for: holder)
        }
        return source == nil ? stop(request, .cancelled) : []
    }

    /// Finishes a request whose work has ended.
    /// - Parameter now: the timekeeper's uptime.
    mutating func finish(
        _ request: KeyRequest, _ outcome: Outcome, at now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        let took = now - request.trace.start
        var effects: [Effect]
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
        return effects + endSourceIfEmpty()
    }

    /// Keeps a request's key alive, in place of an older one; ends the request if the key is no longer wanted.
    private mutating func hold(_ request: KeyRequest, _ plan: RenewalPlan?, at now: Duration) -> [Effect] {
        let older = holders[request.key].flatMap { records[$0]?.request.generation }
        let isRenewal = request.number != request.generation
        // A later request for the same key may have been answered before this one.
        let isWanted = isRenewal ? older == request.generation : (older ?? 0) < request.generation
        guard isWanted, records[request.number]?.isWanted == true else {
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

    /// Lets the key that was got first lapse if too many are held.
    private mutating func removeOldest() -> [Effect] {
        guard holders.count > mostKeys,
            let oldest = holders.values.min(by: { generation($0) < generation($1) })
        else { return [] }
        return lapse(oldest)
    }

    /// Renews a key no more.
    mutating func lapse(_ number: Int) -> [Effect] {
        remove(number).map { [.send($0.request, .evicted), .lapse($0.request)] } ?? []
    }

    func generation(_ number: Int) -> Int { records[number]?.request.generation ?? 0 }
}

// MARK: - What ends a request

extension KeyRequestTable {
    /// Ends a request as its player or adapter wants it.
    mutating func end(_ request: KeyRequest, _ ending: KeyRequest.Ending) -> [Effect] {
        switch ending {
        case .cancel: stop(request, .cancelled)
        case .abandon: stop(request, nil)
        case .release: stop(request, .cancelled) + release(request) + endSourceIfEmpty()
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

    /// Releases all keys; those of pending requests are answered but not held.
    mutating func changeSource() -> [Effect] {
        for number in holders.values { remove(number) }
        for number in records.keys { records[number]?.isWanted = false }
        return endSource()
    }

    /// Answers all pending requests with an error, and releases all keys. Later requests are answered with `cancelled`.
    mutating func close(_ error: ContentKeyError = .cancelled) -> [Effect] {
        source = nil
        // The last first: a request that waits for a host's turn must not get that of one that ended before it.
        let pending = records.values.map(\.request).sorted { $0.number > $1.number }
        for number in holders.values { remove(number) }
        return pending.flatMap { stop($0, error) }
    }

    private mutating func endSource() -> [Effect] {
        source = source.map { $0 + 1 }
        return [.endSource]
    }

    /// A source ends with its last request.
    private mutating func endSourceIfEmpty() -> [Effect] { records.isEmpty ? endSource() : [] }

    @discardableResult
    mutating func remove(_ number: Int) -> Record? {
        guard let record = records.removeValue(forKey: number) else { return nil }
        if holders[record.request.key] == number { holders[record.request.key] = nil }
        if holders.isEmpty { alarm = nil }
        return record
    }
}
