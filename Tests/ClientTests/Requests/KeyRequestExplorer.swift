import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors

@_spi(Adapters) @testable import Latchkey

/// Tries every order of events on a loader's table of requests, up to a number of steps, and checks the invariants after each.
///
/// Known states are not explored again. Keys are interchangeable: a key is used only after those before it.
struct KeyRequestExplorer {
    /// Something that happens; requests by their number.
    enum Event: Hashable {
        case request(key: Int), renewal(key: Int)
        case reply(Int), deadline(Int), systemHolds(Int), cannotRenew(Int), stillNamed(Int), noLongerNamed(Int)
        case cancel(Int), abandon(Int), release(Int)
        case retry, sessionDeath, suspend, resume, renewEnded, releasePlayer, close
    }

    /// An order of events that breaks a rule.
    struct Violation: CustomStringConvertible {
        let rule: String
        let events: [Event]
        var description: String { "\(rule): \(events)" }
    }

    var keys = 3
    /// How many requests are made at most.
    var requests = 3
    var depth: Int
    var fault: KeyRequestFault?

    /// - Returns: the first violation, and how many states were reached.
    func explore() -> (violation: Violation?, states: Int) {
        var seen: Set<Int> = []
        var current = [World()]
        for _ in 0..<depth {
            var next: [World] = []
            for world in current {
                for event in events(in: world) {
                    var world = world
                    world.path.append(event)
                    if let rule = world.apply(event, fault) {
                        return (Violation(rule: rule, events: world.path), seen.count)
                    }
                    if seen.insert(world.fingerprint).inserted { next.append(world) }
                }
            }
            current = next
        }
        return (nil, seen.count)
    }

    private func events(in world: World) -> [Event] {
        var events: [Event] = []
        if world.facts.count < requests {
            events += (0..<min(keys, world.keysUsed + 1)).map { .request(key: $0) }
            events += (0..<world.keysUsed).map { .renewal(key: $0) }
        }
        for (number, facts) in world.facts {
            if facts.isWorking {
                events += [.reply(number), .deadline(number), .systemHolds(number), .cancel(number), .abandon(number)]
            }
            if facts.isWorking || !world.over.contains(facts.request.generation) { events.append(.release(number)) }
            if case .renewalDue = world.table[number] {
                events += [.cannotRenew(number), .stillNamed(number), .noLongerNamed(number)]
            }
        }
        if world.table.alarm != nil { events.append(.retry) }
        if !world.table.holders.isEmpty { events.append(.sessionDeath) }
        if !world.table.lapsed.isEmpty { events.append(.renewEnded) }
        events.append(world.isSuspended ? .resume : .suspend)
        return world.facts.isEmpty ? events : events + [.releasePlayer, .close]
    }
}

/// The table, and the requests' state as seen from outside.
struct World {
    struct Facts: Hashable {
        let request: KeyRequest
        var answers = 0
        var ends = 0
        var isWorking = true
        var isStopped = false
        /// No answer is due: abandoned, or held by the system.
        var isExcused = false
        var hasKey = false

        static func == (one: Self, other: Self) -> Bool { one.hashValue == other.hashValue }

        func hash(into hasher: inout Hasher) {
            hasher.combine(request.number)
            hasher.combine(request.generation)
            hasher.combine(request.key)
            hasher.combine([isWorking, isStopped, isExcused, hasKey])
            hasher.combine([answers, ends])
        }
    }

    static let lease = RenewalPlan(lease: .seconds(100), delay: .seconds(75))

    var table = KeyRequestTable(LeasePolicy(heldKeys: 2), patience: .seconds(20), mostKeys: 2)
    var now = Duration.zero
    var facts: [Int: Facts] = [:]
    var keysUsed = 0
    /// The generations whose keys must not be touched any more: released, ended or replaced.
    var over: Set<Int> = []
    var path: [KeyRequestExplorer.Event] = []

    var isSuspended: Bool { table.suspended.contains(.only) }

    /// The facts that distinguish two worlds; times count from now.
    var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(facts)
        hasher.combine(over)
        hasher.combine(table.alarm.map { $0 - now })
        hasher.combine(isSuspended)
        hasher.combine(Set(table.lapsed.keys))
        for number in table.records.keys.sorted() {
            guard let record = table.records[number] else { continue }
            hasher.combine(number)
            hasher.combine(record.state.from(now))
            hasher.combine(record.failures)
            hasher.combine(now - record.asked > .seconds(10))
            hasher.combine(record.absentSince.map { $0 - now })
            hasher.combine(record.leaseEnd.map { $0 - now })
        }
        return hasher.finalize()
    }

    /// Makes something happen.
    /// - Returns: the rule that it breaks; `nil` if none.
    mutating func apply(_ event: KeyRequestExplorer.Event, _ fault: KeyRequestFault?) -> String? {
        let before = self
        var effects = transition(event)
        fault?.change(&table, &effects, after: event, from: before)
        return note(effects, event) ?? broken(after: event, effects, from: before)
    }

    private mutating func transition(_ event: KeyRequestExplorer.Event) -> [KeyRequestTable.Effect] {
        var chance = NoChance()
        switch event {
        case .request(let key): return add(key, .streaming)
        case .renewal(let key): return add(key, .renewal)
        case .reply(let number): return finish(number, .license(Secret(Data([1])), Self.lease))
        case .deadline(let number):
            return finish(number, .failure(.deadlineExceeded(.seconds(30), stage: .license, after: nil, attempts: 1)))
        case .systemHolds(let number): return finish(number, .heldBySystem)
        case .cannotRenew(let number): return with(number) { $0.cannotRenew($1) }
        case .stillNamed(let number): return with(number) { [now] in $0.reviewed($1, [$1.key.uri], at: now) }
        case .noLongerNamed(let number):
            return with(number) { [now] table, request in
                let newest = table.holders.values.max().flatMap { table.records[$0]?.request.key.uri }
                return table.reviewed(request, Set([newest].compactMap(\.self)).subtracting([request.key.uri]), at: now)
            }
        case .cancel(let number): return with(number) { $0.end($1, .cancel) }
        case .abandon(let number): return with(number) { $0.end($1, .abandon) }
        case .release(let number): return with(number) { $0.end($1, .release) }
        case .retry:
            now = table.alarm ?? now
            table.alarm = nil
            return table.ring(at: now, using: &chance)
        case .sessionDeath: return table.endKeys(.only, .sessionEnded)
        case .suspend:
            table.suspend(.only)
            return []
        case .resume:
            table.resume(.only)
            return []
        case .renewEnded:
            for request in table.takeLapsed(of: .only) { table.cannotReturn(request) }
            return []
        case .releasePlayer: return table.release(.only)
        case .close: return table.close()
        }
    }

    private mutating func add(_ key: Int, _ purpose: KeyPurpose) -> [KeyRequestTable.Effect] {
        keysUsed = max(keysUsed, key + 1)
        let id = KeyRequest.Key(player: .only, uri: KeyURI("skd://\(key)"))
        let registration = table.register(id, purpose)
        let request = KeyRequest(
            registration, id, purpose, IdleRequest(keyURI: id.uri, purpose: purpose), IdleRequest.trace)
        facts[request.number] = Facts(request: request)
        let effects = table.add(request)
        table.records[request.number]?.asked = now
        return effects
    }

    private mutating func finish(_ number: Int, _ outcome: KeyRequestTable.Outcome) -> [KeyRequestTable.Effect] {
        facts[number]?.isWorking = false
        var chance = NoChance()
        return with(number) { [now] in $0.finish($1, outcome, at: now, using: &chance) }
    }

    private mutating func with(
        _ number: Int, _ body: (inout KeyRequestTable, KeyRequest) -> [KeyRequestTable.Effect]
    ) -> [KeyRequestTable.Effect] {
        guard let request = facts[number]?.request else { return [] }
        return body(&table, request)
    }
}

// MARK: - The rules

extension World {
    /// Notes effects, and checks each against the events before it.
    private mutating func note(_ effects: [KeyRequestTable.Effect], _ event: KeyRequestExplorer.Event) -> String? {
        for effect in effects {
            switch effect {
            case .answer(let request, let result):
                facts[request.number]?.answers += 1
                if case .success = result { facts[request.number]?.hasKey = true }
                if facts[request.number]?.isExcused == true || event == .abandon(request.number) {
                    return "no answer after giving up"
                }
                if facts[request.number]?.answers != 1 { return "one answer" }
            case .systemHoldsKey(let request):
                if facts[request.number]?.answers != 0 { return "no answer for a key that the system holds" }
                facts[request.number]?.isExcused = true
            case .stopWork(let request): facts[request.number]?.isStopped = true
            case .planRenewal(let request, _):
                if facts[request.number]?.hasKey == true { return "the date comes before the key" }
            case .renew(let request), .review(let request):
                if isSuspended { return "a suspended player is not asked to renew" }
                if over.contains(request.generation) { return "a key that is over is not renewed" }
                if facts[request.number]?.hasKey != true { return "only a key is renewed" }
                if isRenewing(request) { return "no renewal while one is pending" }
            case .end(let request, _):
                facts[request.number]?.ends += 1
                if over.contains(request.generation) { return "a key that is over does not end" }
                if facts[request.number]?.hasKey != true { return "only a key ends" }
                over.insert(request.generation)
            case .send(let request, let kind):
                if let rule = broken(by: kind, request) { return rule }
            case .lapse(let request):
                if facts[request.number]?.hasKey != true { return "only a key lapses" }
                if table.holders.isEmpty { return "the newest key does not lapse" }
                over.insert(request.generation)
            case .endSource: break
            }
        }
        if case .abandon(let number) = event, facts[number]?.answers == 0 { facts[number]?.isExcused = true }
        return nil
    }

    private func isRenewing(_ request: KeyRequest) -> Bool {
        if case .renewing = table[request.number] { true } else { false }
    }

    private mutating func broken(by kind: KeyEvent.Kind, _ request: KeyRequest) -> String? {
        switch kind {
        case .released:
            if !over.insert(request.generation).inserted { return "released once" }
        case .renewalDue, .renewalFailed, .renewalPlanned:
            if over.contains(request.generation) { return "no event after release" }
        default: break
        }
        return nil
    }

    /// The rule that the table breaks.
    private mutating func broken(
        after event: KeyRequestExplorer.Event, _ effects: [KeyRequestTable.Effect], from before: World
    ) -> String? {
        for number in before.table.records.keys where !before.table[number].mayBecome(table[number]) {
            return "no state but a successor: \(before.table[number]) → \(table[number])"
        }
        for (key, number) in before.table.holders {
            guard let holder = table.holders[key], let newer = facts[holder]?.request.generation else { continue }
            if newer < facts[number]?.request.generation ?? 0 { return "no older key replaces a newer one" }
        }
        if let rule = brokenRecords() ?? brokenAlarm(event) ?? brokenEnd(event, before) { return rule }
        let ends = effects.contains { if case .endSource = $0 { true } else { false } }
        switch event {
        case .reply, .deadline, .systemHolds, .release:
            if ends != table.records.isEmpty { return "the source ends with its last key" }
        case .releasePlayer:
            if !ends { return "a released player's source ends" }
            if !table.lapsed.isEmpty { return "a released player's keys do not come back" }
        default: if ends { return "the source does not end yet" }
        }
        noteOver(before)
        return nil
    }

    private func brokenRecords() -> String? {
        for (number, facts) in facts {
            let state = table[number]
            if facts.isWorking != (state == .pending || state == .stopping) {
                return "a request is kept while it is worked on"
            }
            if state == .stopping, !facts.isStopped { return "work that nobody wants is stopped" }
            if state == .pending, facts.answers + (facts.isExcused ? 1 : 0) != 0 {
                return "an answered request is not pending"
            }
            if state != .pending, facts.answers == 0, !facts.isExcused { return "every request is answered" }
            if state.isHeld, !facts.hasKey { return "only an answered key is held" }
            if state.isHeld, over.contains(facts.request.generation) { return "a key that is over is not held" }
            if state.isHeld != (table.holders[facts.request.key] == number) { return "one holder for a key" }
            if case .renewing(let renewal) = state, self.facts[renewal]?.isWorking != true {
                return "a renewal is worked on"
            }
        }
        return table.holders.count > 2 ? "no more keys than allowed" : nil
    }

    private func brokenAlarm(_ event: KeyRequestExplorer.Event) -> String? {
        let due = isSuspended ? nil : table.holders.values.compactMap { table.records[$0]?.due }.min()
        if let due, table.alarm.map({ $0 > due }) ?? true { return "the alarm rings in time" }
        if table.holders.isEmpty, table.alarm != nil { return "no alarm without a key" }
        if event == .retry, let due, due <= now { return "what is due is done" }
        return nil
    }

    private func brokenEnd(_ event: KeyRequestExplorer.Event, _ before: World) -> String? {
        switch event {
        case .cancel(let number), .release(let number), .abandon(let number):
            guard let facts = facts[number] else { return nil }
            if table[number] == .pending { return "ending a request ends it at once" }
            if case .release = event, holders(of: facts.request.generation) > 0 { return "a released key is not held" }
        case .sessionDeath, .releasePlayer, .close:
            if !table.holders.isEmpty { return "no key outlives its session or source" }
            if event != .sessionDeath, facts.keys.contains(where: { table[$0] == .pending }) {
                return "closing answers all"
            }
            if event == .sessionDeath, before.table.holders.values.contains(where: { facts[$0]?.ends != 1 }) {
                return "each key ends with its session"
            }
        case .retry where !isSuspended:
            for number in before.table.holders.values
            where before.table.records[number]?.leaseEnd.map({ $0 <= now }) == true {
                if facts[number]?.ends != 1 || table[number] != .ended { return "a lease ends at its end" }
            }
        default: break
        }
        return nil
    }

    private func holders(of generation: Int) -> Int {
        table.holders.values.count { table.records[$0]?.request.generation == generation }
    }

    /// Notes requests that end without an event: replaced, removed with their source, held by the system, or one key too many.
    private mutating func noteOver(_ before: World) {
        for number in before.table.holders.values {
            guard let generation = facts[number]?.request.generation, holders(of: generation) == 0 else { continue }
            over.insert(generation)
        }
    }
}

extension KeyRequestState {
    /// The state with times counted from now.
    fileprivate func from(_ now: Duration) -> Self {
        switch self {
        case .held(let time): .held(renewal: time.map { $0 - now })
        case .renewalDue(let time): .renewalDue(until: time - now)
        case .pending, .stopping, .renewing, .ended: self
        }
    }

    fileprivate func mayBecome(_ next: Self) -> Bool { self == next || canBecome(next) }
}

/// A player's request that is never called.
private struct IdleRequest: PlayerKeyRequest {
    static let trace = Trace(0, ManualTimekeeper()) { _ in }

    let keyURI: KeyURI
    let purpose: KeyPurpose
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { Data() }
    func answer(_ result: Result<Data, ContentKeyError>) {}
}

/// Always draws the same number, so that a state's times do not depend on the path to it. Not 0, which drawing from a range rejects.
///
/// It has a value, because Swift 6.3 passes the address of a value without members as undefined, and the thread sanitizer looks there.
struct NoChance: RandomNumberGenerator {
    private let number = UInt64.max
    mutating func next() -> UInt64 { number }
}
