import Foundation
import LatchkeyCore
import LatchkeyVendors

/// The keys that players hold, and the renewal of each ahead of its lease's end. All wait on one alarm.
///
/// Renewals go through the player: it is asked to, and gives the loader a new request. Calls to a request are made outside the
/// lock, so that it may come back at once.
final class HeldKeys: Sendable {
    typealias Report = HeldKey.Report

    struct State {
        var keys: [HeldKey.ID: HeldKey] = [:]
        var last = 0
        /// The numbers of keys that are held or asked for. What is not among them any more is not held when its answer comes.
        var wanted: Set<Int> = []
        /// What the alarm is set to.
        var alarm: Duration?
    }

    /// A request's part in the life of its key.
    struct Claim: Sendable {
        let id: HeldKey.ID
        let number: Int
    }

    let policy: LeasePolicy
    /// How long a player may take to come when it was asked to renew.
    private let patience: Duration
    private let vendor: RenewalPolicy
    let timekeeper: any Timekeeper
    private let generator: @Sendable () -> any RandomNumberGenerator
    private let alarm: Alarm
    private let state = Locked(State())

    init(_ caller: ServiceCaller) {
        policy = caller.configuration.leases
        patience = caller.configuration.retry.deadline
        vendor = caller.integration.renewal
        timekeeper = caller.timekeeper
        generator = caller.generator
        alarm = Alarm(caller.timekeeper)
    }

    /// Whether no key is held.
    var isEmpty: Bool { state.withLock { $0.keys.isEmpty } }

    func suspend() { alarm.suspend() }
    func resume() { alarm.resume() }

    /// Lets all go, also what is asked for by requests that are under way.
    func letAllGo() {
        state.withLock { state in
            state.wanted = []
            state.keys = [:]
            setAlarm(&state, noLaterThan: nil)
        }
    }

    /// When a license would be renewed, counted from now; nil where it would not.
    func renewal(after license: License) -> Duration? { plan(license)?.delay }

    private func plan(_ license: License) -> RenewalPlan? {
        var generator = SomeGenerator(generator())
        return policy.plan(license.terms, vendor, using: &generator)
    }
}

// MARK: - What a request does

extension HeldKeys {
    /// Takes note of a request that begins. A renewal belongs to the key that is held.
    func claim(_ request: any PlayerKeyRequest) -> Claim {
        let id = HeldKey.ID(request)
        return state.withLock { state in
            if request.purpose == .renewal, let key = state.keys[id] {
                return Claim(id: id, number: key.number)
            }
            state.last += 1
            state.wanted.insert(state.last)
            return Claim(id: id, number: state.last)
        }
    }

    /// A renewal of a held key is under way; the player may have begun it on its own.
    func renewalBegan(_ claim: Claim, _ open: OpenKeyRequest) {
        update(claim) { $0.phase = .renewing(open) }
    }

    /// The player has its key.
    func hold(_ claim: Claim, _ request: any PlayerKeyRequest, _ license: License, _ report: @escaping Report) {
        let now = timekeeper.uptime
        let plan = plan(license)
        let end = plan?.lease.map { now + $0 }
        let phase = plan.map { HeldKey.Phase.resting(until: now + $0.delay) } ?? .waiting
        let isHeld = state.withLock { state in
            // A later request for the same key may have been answered before this one.
            guard state.wanted.contains(claim.number), state.keys[claim.id].map({ $0.number <= claim.number }) ?? true
            else { return false }
            if let older = state.keys[claim.id]?.number, older != claim.number { state.wanted.remove(older) }
            state.keys[claim.id] = HeldKey(
                number: claim.number, request: request, report: report, lease: plan?.lease, end: end, phase: phase)
            letGoOfTheFirst(&state)
            setAlarm(&state, noLaterThan: state.keys[claim.id]?.due)
            return true
        }
        guard isHeld, let plan else { return }
        report(.renewalPlanned(after: plan.delay, lease: plan.lease))
        request.renewalPlanned(at: timekeeper.date.addingTimeInterval(plan.delay.inSeconds))
    }

    /// A request got no license.
    func fail(_ claim: Claim, _ error: ContentKeyError) {
        state.withLock { if $0.keys[claim.id]?.number != claim.number { $0.wanted.remove(claim.number) } }
        let now = timekeeper.uptime
        var generator = SomeGenerator(generator())
        let failed = update(claim) { key in
            guard case .renewing = key.phase else { return }
            key.fail(error.code, at: now, policy, using: &generator)
        }
        failed?.reportFailure(at: now)
    }

    /// The player needs the key no more.
    func release(_ claim: Claim) {
        let released = state.withLock { state in
            state.wanted.remove(claim.number)
            guard state.keys[claim.id]?.number == claim.number else { return nil as HeldKey? }
            defer { setAlarm(&state, noLaterThan: nil) }
            return state.remove(claim.id)
        }
        released?.report(.released)
    }

    @discardableResult
    private func update(_ claim: Claim, _ change: (inout HeldKey) -> Void) -> HeldKey? {
        state.withLock { state in
            guard var key = state.keys[claim.id], key.number == claim.number else { return nil }
            change(&key)
            state.keys[claim.id] = key
            setAlarm(&state, noLaterThan: key.due)
            return key
        }
    }

    private func letGoOfTheFirst(_ state: inout State) {
        guard state.keys.count > max(1, policy.heldKeys) else { return }
        guard let first = state.keys.min(by: { $0.value.number < $1.value.number }) else { return }
        state.remove(first.key)
    }
}

extension HeldKeys.State {
    @discardableResult
    fileprivate mutating func remove(_ id: HeldKey.ID) -> HeldKey? {
        guard let key = keys.removeValue(forKey: id) else { return nil }
        wanted.remove(key.number)
        return key
    }
}

// MARK: - What time does

extension HeldKeys {
    /// Has the players renew all keys, because the session lives by it.
    /// - Returns: whether any player can.
    func renewAll() -> Bool {
        let now = timekeeper.uptime
        return perform(
            state.withLock { state in
                for (id, key) in state.keys where !key.isRenewing { state.keys[id]?.phase = .resting(until: now) }
                return takeDue(&state, now)
            })
    }

    /// Ends all keys, because their session failed.
    func endAll(_ error: ContentKeyError) {
        let ended = state.withLock { state in
            let keys = state.keys.values.sorted { $0.number < $1.number }
            for key in keys { state.remove(HeldKey.ID(key.request)) }
            setAlarm(&state, noLaterThan: nil)
            return keys
        }
        for key in ended { end(key, error) }
    }

    private struct Due {
        var ended: [HeldKey] = []
        var failed: [HeldKey] = []
        var renewals: [(id: HeldKey.ID, key: HeldKey)] = []
    }

    private func ring() {
        let now = timekeeper.uptime
        perform(
            state.withLock { state in
                state.alarm = nil
                return takeDue(&state, now)
            })
    }

    /// - Returns: whether a player was asked to renew, and can.
    @discardableResult
    private func perform(_ due: Due) -> Bool {
        for key in due.ended { end(key, ContentKeyError(endOf: key)) }
        for key in due.failed { key.reportFailure(at: timekeeper.uptime) }
        return due.renewals.count { askToRenew($0.id, $0.key) } > 0
    }

    private func takeDue(_ state: inout State, _ now: Duration) -> Due {
        var due = Due()
        var generator = SomeGenerator(generator())
        let all = state.keys.filter { $0.value.due.map { $0 <= now } ?? false }
        for (id, var key) in all.sorted(by: { $0.value.number < $1.value.number }) {
            guard !key.hasEnded(at: now) else {
                state.remove(id)
                due.ended.append(key)
                continue
            }
            switch key.phase {
            case .resting:
                key.phase = .asked(until: now + patience)
                due.renewals.append((id, key))
            case .asked:
                key.fail(ContentKeyError.Kind.playerDidNotRenew.rawValue, at: now, policy, using: &generator)
                due.failed.append(key)
            case .renewing, .waiting: continue
            }
            state.keys[id] = key
        }
        setAlarm(&state, noLaterThan: state.keys.values.lazy.compactMap(\.due).min())
        return due
    }

    private func askToRenew(_ id: HeldKey.ID, _ key: HeldKey) -> Bool {
        key.report(.renewalDue)
        guard !key.request.renew() else { return true }
        let isStuck = state.withLock { state in
            guard let held = state.keys[id], held.number == key.number, case .asked = held.phase else { return false }
            state.keys[id]?.phase = .waiting
            setAlarm(&state, noLaterThan: held.end)
            return true
        }
        if isStuck { key.report(.renewalFailed(code: ContentKeyError.Kind.playerDidNotRenew.rawValue, nextAfter: nil)) }
        return false
    }

    private func end(_ key: HeldKey, _ error: ContentKeyError) {
        key.report(.ended(error))
        if case .renewing(let open) = key.phase { open.giveUp(error) }
        key.request.ended(error)
    }

    /// Has the alarm ring no later than something is due; nothing is due where no key is left. An alarm that rings for nothing costs
    /// less than a look at a thousand keys whenever one of them changes.
    private func setAlarm(_ state: inout State, noLaterThan due: Duration?) {
        guard !state.keys.isEmpty else {
            state.alarm = nil
            return alarm.clear()
        }
        guard let due, state.alarm.map({ due < $0 }) ?? true else { return }
        state.alarm = due
        alarm.set(at: due) { [weak self] in self?.ring() }
    }
}
