import LatchkeyCore

/// Work that waits for threads: as much of it as can be done in time, fairly by lanes, and within a lane by tenants.
///
/// A pure value; time comes in.
///
/// - The limit is the work that the threads do in the target time, by the measured time of a piece (an average that forgets).
/// - At the limit, work of a lane that has less than its share takes the place of the newest of the lane that has most beyond its own.
/// - At the limit, work of a tenant that has less than another takes the place of the newest work of the tenant with most in the lane.
/// - Lanes are served 4 : 2 : 1 while each has work; a lane alone gets all. Tenants take turns within a lane.
/// - A thread may take several pieces that cost less together: pieces that would be next anyway, each by its lane's turn.
/// - First come, first served, for one tenant. Once the oldest has waited beyond the target for the interval (CoDel's test), the newest
///   comes first, because it is still in time, and work that waited too long is dropped.
///
/// Source: RFC 8289 §5; `Documentation/LicenseServer.md` §9.1.
package struct AdmissionQueue<Item: Sendable>: Sendable {
    private struct Waiting: Sendable {
        let item: Item
        let session: UInt64
        let arrival: Duration
    }

    private struct Lane: Sendable {
        var waiting = OwnerTurns<String, Waiting>()
        /// The virtual time at which the lane is served next: a heavier lane's advances less for each piece.
        var turn: UInt64 = 0
    }

    /// Work that was refused although it waited already.
    package struct Dropped: Sendable {
        package let item: Item
        package let refusal: AdmissionRefusal
    }

    /// Work to be done now.
    package struct Admitted: Sendable {
        package let item: Item
        package let lane: AdmissionLane
        /// How long it waited.
        package let wait: Duration
    }

    private let rules: AdmissionRules
    private let threads: Int
    private var lanes = AdmissionLane.allCases.map { _ in Lane() }
    /// The turn that was served last: a lane that was idle begins there and saves nothing up.
    private var turn: UInt64 = 0
    /// Since when the oldest has waited beyond the target; `nil` if it has not.
    private var lateSince: Duration?
    private var pressure = ShedPressure()

    /// How much work waits.
    package private(set) var count = 0
    /// How many threads do pieces.
    package private(set) var busy = 0
    /// How long a piece takes.
    package private(set) var serviceTime: Duration
    /// Whether the newest is served first.
    package private(set) var servesNewestFirst = false
    /// Whether new work is refused, because the server is about to stop.
    package var isDraining = false

    /// - Parameters:
    ///   - threads: how many pieces are done at the same time, at least 1.
    ///   - rules: how much work may wait, and for how long.
    package init(threads: Int, rules: AdmissionRules = AdmissionRules()) {
        self.rules = rules
        self.threads = max(1, threads)
        serviceTime = rules.expectedTime
    }

    /// How much work may wait now: never less than one piece per thread, unless the rules allow less.
    package var limit: Int {
        min(rules.most, max(threads, Int(saturating: rules.target / serviceTime * Double(threads))))
    }

    /// Takes work on, or refuses it.
    /// - Parameters:
    ///   - item: the work.
    ///   - lane: its lane.
    ///   - session: the session of the work; spreads the times at which refused clients come again.
    ///   - tenant: the viewer's tenant. Defaults to one for all.
    ///   - now: of a clock that never goes back.
    /// - Returns: `nil`, or the work that makes room for it and is refused instead.
    /// - Throws: `AdmissionRefusal` if it is itself refused.
    package mutating func add(
        _ item: Item, _ lane: AdmissionLane, session: UInt64, tenant: String = "", at now: Duration
    ) throws(AdmissionRefusal) -> Dropped? {
        guard !isDraining else { throw refusal(lane, .draining, session, now) }
        var dropped: Dropped?
        if count >= limit {
            let victim = laneBeyondShare(besides: lane) ?? lane
            let newest = lanes[victim.rawValue].waiting.removeNewest(besides: victim == lane ? tenant : nil)
            guard let newest else { throw refusal(lane, .full, session, now) }
            count -= 1
            dropped = Dropped(item: newest.item, refusal: refusal(victim, .full, newest.session, now))
        }
        if lanes[lane.rawValue].waiting.isEmpty { lanes[lane.rawValue].turn = max(lanes[lane.rawValue].turn, turn) }
        lanes[lane.rawValue].waiting.append(Waiting(item: item, session: session, arrival: now), of: tenant)
        count += 1
        return dropped
    }

    /// The next piece of work for a thread. The thread says `finished` when it is done.
    /// - Parameter joins: for a thread that has a piece already: whether it does this one, the next in turn, together with it. Defaults to
    ///   a thread that has none.
    /// - Returns: `nil` if no work waits, or it does not join, and the work that was dropped on the way.
    package mutating func next(
        at now: Duration, joins: ((Item) -> Bool)? = nil
    ) -> (admitted: Admitted?, dropped: [Dropped]) {
        var dropped: [Dropped] = []
        judge(at: now)
        let limit = servesNewestFirst ? min(rules.patience, rules.deadline) : rules.deadline
        while let lane = nextLane() {
            // A tenant's overdue work is its oldest, from whichever end it is served.
            while let oldest = lanes[lane.rawValue].waiting.first, now - oldest.arrival > limit {
                _ = lanes[lane.rawValue].waiting.removeOldest()
                count -= 1
                dropped.append(Dropped(item: oldest.item, refusal: refusal(lane, .late, oldest.session, now)))
            }
            if let joins {
                guard let waiting = front(of: lane) else { continue }
                if !joins(waiting.item) { break }
            }
            guard let waiting = take(from: lane) else { continue }
            count -= 1
            if joins == nil { busy += 1 }
            turn = lanes[lane.rawValue].turn
            lanes[lane.rawValue].turn += lane.stride
            // A queue that is empty again is not behind, however long its last piece waited for a busy processor.
            if count == 0 { keepsUp() }
            return (Admitted(item: waiting.item, lane: lane, wait: now - waiting.arrival), dropped)
        }
        return (nil, dropped)
    }

    /// Takes on a piece of work for the thread that asks, without waiting, if no other waits. The thread says `finished` when it is done.
    /// - Returns: whether it may begin; else it has to be added.
    package mutating func beginsAtOnce(at now: Duration) -> Bool {
        guard !isDraining, count == 0, busy < threads else { return false }
        judge(at: now)
        busy += 1
        return true
    }

    /// A thread has done its piece of work, or several that it did together.
    /// - Parameters:
    ///   - pieces: how many, at least 1. Defaults to one.
    ///   - time: how long they took, all together.
    package mutating func finished(_ pieces: Int = 1, in time: Duration) {
        busy -= 1
        let each = pieces > 1 ? time / pieces : time
        for _ in 0..<pieces { serviceTime = max(.microseconds(1), serviceTime + (each - serviceTime) / 16) }
    }
}

extension AdmissionQueue {
    /// CoDel's test: whether the oldest work has waited beyond the target for the interval.
    private mutating func judge(at now: Duration) {
        var oldest = now
        for lane in lanes where !lane.waiting.isEmpty {
            for first in lane.waiting.oldest { oldest = min(oldest, first.arrival) }
        }
        guard now - oldest > rules.target else { return keepsUp() }
        let since = lateSince ?? now
        lateSince = since
        servesNewestFirst = servesNewestFirst || now - since >= rules.interval
    }

    private mutating func keepsUp() {
        lateSince = nil
        servesNewestFirst = false
    }

    private mutating func take(from lane: AdmissionLane) -> Waiting? {
        lanes[lane.rawValue].waiting.take(newest: servesNewestFirst)
    }

    private func front(of lane: AdmissionLane) -> Waiting? {
        servesNewestFirst ? lanes[lane.rawValue].waiting.last : lanes[lane.rawValue].waiting.first
    }

    /// The lane with work whose turn is first.
    private func nextLane() -> AdmissionLane? {
        var next: AdmissionLane?
        for lane in AdmissionLane.allCases where !lanes[lane.rawValue].waiting.isEmpty {
            if next.map({ lanes[lane.rawValue].turn < lanes[$0.rawValue].turn }) ?? true { next = lane }
        }
        return next
    }

    /// The lane that has most work for its weight, if that is more than this one would have with one piece more.
    private func laneBeyondShare(besides lane: AdmissionLane) -> AdmissionLane? {
        let load = { (lane: AdmissionLane, more: Int) in (lanes[lane.rawValue].waiting.count + more) * lane.stride.asInt
        }
        let heaviest = AdmissionLane.allCases.filter { $0 != lane }.max { load($0, 0) < load($1, 0) }
        return heaviest.flatMap { load($0, 0) > load(lane, 1) ? $0 : nil }
    }

    private mutating func refusal(
        _ lane: AdmissionLane, _ why: ShedReason, _ session: UInt64, _ now: Duration
    ) -> AdmissionRefusal {
        pressure.note(at: now)
        // Another node takes the requests that a stopping node refuses, immediately.
        let served = Double(threads) / serviceTime.inSeconds
        let seconds = why == .draining ? 1 : 1 + Int(session % UInt64(pressure.seconds(served: served)))
        return AdmissionRefusal(lane: lane, why: why, retryAfter: seconds)
    }
}

extension AdmissionLane {
    /// The cost of one piece of work to the lane: the heavier the lane, the less.
    fileprivate var stride: UInt64 { UInt64(4 / weight) }
}

extension UInt64 {
    fileprivate var asInt: Int { Int(clamping: self) }
}

/// The refusals, compared with the capacity: the backlog of clients that will come again.
private struct ShedPressure: Sendable {
    private var second: Int64 = 0
    private var now = 0
    private var before = 0

    mutating func note(at uptime: Duration) {
        let second = uptime.components.seconds
        if second != self.second {
            before = second == self.second + 1 ? now : 0
            (self.second, now) = (second, 0)
        }
        now += 1
    }

    /// Over how many seconds to spread refused clients, 1 to 5.
    /// - Parameter served: how many can be served per second.
    func seconds(served: Double) -> Int {
        Int(saturating: min(5, 1 + (Double(max(now, before)) / max(1, served)).rounded(.up)))
    }
}
