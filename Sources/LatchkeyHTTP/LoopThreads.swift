import Foundation
import LatchkeyCore

/// Runs a loop on threads that also do other work.
///
/// One thread at a time leads: it reads and writes for all connections, and sleeps until one of them is ready. Before it does a piece of
/// work it makes another one the leader, if one sleeps. Where all are busy, a thread that has done its piece reads and writes before it
/// takes the next: no thread waits for another, and a refusal waits for one piece at most.
// Sound because the loop is run under `lead` only; other threads reach it by its inbox.
final class LoopThreads: @unchecked Sendable {
    private let loop: ServerLoop
    private let work: any ThreadWork
    private let alarms: [ThreadAlarm]
    private let lead = NSLock()
    /// The alarms of the threads that sleep and do not lead.
    private let followers = Locked<[ThreadAlarm]>([])
    private let isEnding = Locked(false)

    /// Starts the threads.
    /// - Returns: `nil` if the process may not open the files that they need.
    init?(_ loop: ServerLoop, _ work: any ThreadWork, threads: Int) {
        (self.loop, self.work) = (loop, work)
        alarms = (0..<threads).compactMap { _ in ThreadAlarm() }
        guard alarms.count == threads else { return nil }
        for (number, alarm) in alarms.enumerated() {
            let thread = Thread { [self] in run(alarm) }
            thread.name = "latchkey-http-\(number)"
            thread.start()
        }
    }

    /// Ends the threads. The loop is the caller's again; a thread that does a piece of work ends after it.
    func end() {
        isEnding.withLock { $0 = true }
        for alarm in alarms { alarm.ring() }
        lead.withLock {}
    }

    private func run(_ alarm: ThreadAlarm) {
        work.join()
        while !isEnding.withLock({ $0 }) { step(alarm) }
        work.leave()
    }

    /// Reads and writes unless another thread does, and does a piece of work, or sleeps.
    private func step(_ alarm: ThreadAlarm) {
        let leads = lead.try()
        if leads {
            guard !isEnding.withLock({ $0 }) else { return lead.unlock() }
            loop.run()
        }
        if let piece = work.take() {
            if leads {
                lead.unlock()
                followers.withLock { $0.popLast() }?.ring()
            }
            return piece()
        }
        if work.rest(alarm) {
            if leads { sleepAsLeader(alarm) } else { follow(alarm) }
            work.rise(alarm)
        }
        if leads { lead.unlock() }
    }

    private func sleepAsLeader(_ alarm: ThreadAlarm) {
        guard !loop.hasWaiting, loop.inbox.beginSleep(alarm) else { return }
        alarm.sleep(besides: loop.readiness, milliseconds: -1)
        loop.inbox.endSleep()
    }

    private func follow(_ alarm: ThreadAlarm) {
        followers.withLock { $0.append(alarm) }
        defer { followers.withLock { $0.removeAll { $0 === alarm } } }
        // The former leader may have looked for a follower before this one could be found.
        if lead.try() { return lead.unlock() }
        alarm.sleep(besides: nil, milliseconds: -1)
    }
}

/// No work: a thread that only reads and writes.
struct NoWork: ThreadWork {
    var threads: Int { 1 }
    func join() {}
    func leave() {}
    func take() -> (@Sendable () -> Void)? { nil }
    func rest(_ alarm: ThreadAlarm) -> Bool { true }
    func rise(_ alarm: ThreadAlarm) {}
}
