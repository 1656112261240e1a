import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyLicensing
import LatchkeyVault

/// A load on virtual time: the server's own decisions and accounts, without SPCs and sockets, for any number of devices.
///
/// It shows arrivals over time: how many licenses per second a premiere takes, and whether its renewals come as one storm.
struct VirtualLoad {
    let plan: LoadPlan
    let policy: Policy
    /// The number of sessions per account.
    let sessions: Int

    private struct Event {
        /// In microseconds from the start.
        let time: Int64
        let viewer, session: Int32
        let isStart: Bool
        /// When the viewer leaves.
        let end: Int64
    }

    /// Runs it to its end.
    func run(_ progress: (LoadTally) -> Void = { _ in }) async -> LoadReport {
        let clock = VirtualClock()
        let accounts = AccountSessions(
            accounts: MemoryRecordStore(limit: 10_000_000, timekeeper: clock), secrets: [.random(32)],
            timekeeper: clock)
        var tally = LoadTally(length: plan.length + (plan.watching ?? .zero))
        var generator = SeededGenerator(seed: plan.seed &+ 1)
        var events = EventHeap<Event> { $0.time < $1.time }
        var starts = plan.starts().makeIterator()
        var (next, shown) = (starts.next(), Int64(0))
        let processor = ProcessClock()
        while next != nil || !events.isEmpty {
            // Only the next playback to begin is in memory.
            if let start = next, events.first.map({ start.inMicroseconds <= $0.time }) ?? true {
                let viewer = Int32.random(in: 0..<Int32(clamping: max(1, plan.viewers)), using: &generator)
                let session = Int32.random(in: 0..<Int32(clamping: max(1, sessions)), using: &generator)
                events.insert(
                    Event(
                        time: start.inMicroseconds, viewer: viewer, session: session, isStart: true,
                        end: (start + (plan.watching ?? .zero)).inMicroseconds))
                next = starts.next()
            }
            guard let event = events.popFirst() else { continue }
            clock.move(to: .microseconds(event.time))
            let renewal = await decide(event, accounts, &tally)
            if let renewal, event.time + renewal < event.end {
                events.insert(
                    Event(
                        time: event.time + renewal, viewer: event.viewer, session: event.session, isStart: false,
                        end: event.end))
            }
            if event.time - shown >= 1_000_000 {
                shown = event.time
                progress(tally)
            }
        }
        return LoadReport(plan, tally, elapsed: clock.uptime, processorTime: processor.spent)
    }

    /// - Returns: the microseconds until the device renews; `nil` if it does not.
    private func decide(_ event: Event, _ accounts: AccountSessions, _ tally: inout LoadTally) async -> Int64? {
        let offset = Duration.microseconds(event.time)
        if event.isStart { tally.start(at: offset, late: .zero) }
        var facts = Facts()
        facts.request.tenant = "load"
        facts.request.playback = event.isStart ? .readyToStart : .leaseExpiring
        facts.request.session = PlaybackSessionID(rawValue: UInt64(event.viewer) << 32 | UInt64(event.session))
        facts.grant.account = "viewer-\(event.viewer)"
        facts.grant.session = "\(event.viewer)-\(event.session)"
        let booked = await accounts.decide(facts, by: policy)
        let question: LoadQuestion = event.isStart ? .start : .renewal
        switch booked.decision {
        case .license(_, _, let renewAfter, _, _):
            tally.request(.granted, LoadReply(status: 200), .zero, at: offset)
            tally.end(question, .granted)
            return renewAfter?.inMicroseconds
        case .acknowledge:
            tally.request(.granted, LoadReply(status: 204), .zero, at: offset)
            tally.end(question, .granted)
        case .refuse(let refusal, _, _):
            let reply = LoadReply(status: refusal.status, body: refusal.body(requestID: "load"))
            tally.request(reply.outcome, reply, .zero, at: offset)
            tally.end(question, reply.outcome)
        }
        return nil
    }
}

/// A clock that a simulation moves. It never wakes a waiter: a wait ends only when it is cancelled.
private final class VirtualClock: Timekeeper {
    private static let start = Date(timeIntervalSince1970: 1_767_225_600)
    private let now = Locked(Duration.zero)

    var uptime: Duration { now.withLock { $0 } }
    var date: Date { Self.start.addingTimeInterval(uptime.inSeconds) }

    func move(to time: Duration) { now.withLock { $0 = max($0, time) } }

    func sleep(for duration: Duration) async throws {
        for await _ in AsyncStream<Never>.makeStream().stream {}
        throw CancellationError()
    }
}

/// Values whose smallest is always available: a binary heap.
struct EventHeap<Value> {
    private var values: [Value] = []
    private let isBefore: (Value, Value) -> Bool

    init(_ isBefore: @escaping (Value, Value) -> Bool) { self.isBefore = isBefore }

    var isEmpty: Bool { values.isEmpty }
    var first: Value? { values.first }

    mutating func insert(_ value: Value) {
        values.append(value)
        var index = values.count - 1
        while index > 0, isBefore(values[index], values[(index - 1) / 2]) {
            values.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func popFirst() -> Value? {
        guard let first = values.first, let last = values.popLast() else { return nil }
        guard !values.isEmpty else { return first }
        values[0] = last
        var index = 0
        while true {
            var least = 2 * index + 1
            guard least < values.count else { return first }
            if least + 1 < values.count, isBefore(values[least + 1], values[least]) { least += 1 }
            guard isBefore(values[least], values[index]) else { return first }
            values.swapAt(index, least)
            index = least
        }
    }
}

extension Duration {
    fileprivate var inMicroseconds: Int64 {
        let (seconds, attoseconds) = clamped.components
        return seconds.multipliedReportingOverflow(by: 1_000_000).partialValue &+ attoseconds / 1_000_000_000_000
    }
}
