import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ManualTimekeeperTests {
    private let time = ManualTimekeeper(date: Date(timeIntervalSince1970: 1_000))

    @Test func `time advances only on request`() {
        #expect(time.uptime == .zero)
        time.advance(by: .milliseconds(2_500))
        #expect(time.uptime == .milliseconds(2_500))
        #expect(time.date == Date(timeIntervalSince1970: 1_002.5))
    }

    @Test func `a new date wakes no sleeper`() async throws {
        let sleep = Task { [time] in try await time.sleep(for: .seconds(10)) }
        await time.untilSomeoneSleeps()
        time.setDate(Date(timeIntervalSince1970: 9_000))
        #expect(time.sleeperCount == 1)
        #expect(time.uptime == .zero)
        time.advance(by: .seconds(10))
        try await sleep.value
    }

    @Test func `a sleeper wakes when its time has come and not before`() async throws {
        let sleep = Task { [time] in
            try await time.sleep(for: .seconds(10))
            return time.uptime
        }
        await time.untilSomeoneSleeps()
        time.advance(by: .milliseconds(9_999))
        #expect(time.sleeperCount == 1)
        time.advance(by: .milliseconds(1))
        #expect(time.sleeperCount == 0)
        #expect(try await sleep.value == .seconds(10))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a sleep of no length returns`(duration: Duration) async throws {
        try await time.sleep(for: duration)
        #expect(time.sleeperCount == 0)
    }

    @Test func `a cancelled sleeper leaves`() async {
        let sleep = Task { [time] in try await time.sleep(for: .seconds(10)) }
        await time.untilSomeoneSleeps()
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
        #expect(time.sleeperCount == 0)
    }

    @Test func `a task cancelled before it sleeps never sleeps`() async {
        let sleep = Task { [time] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await time.sleep(for: .seconds(10))
        }
        await #expect(throws: CancellationError.self) { try await sleep.value }
        #expect(time.sleeperCount == 0)
    }

    @Test func `several watchers see one sleeper`() async throws {
        let watchers = (0..<3).map { _ in Task { [time] in await time.untilSomeoneSleeps() } }
        let sleep = Task { [time] in try await time.sleep(for: .seconds(1)) }
        for watcher in watchers { await watcher.value }
        time.advance(by: .seconds(1))
        try await sleep.value
    }
}
