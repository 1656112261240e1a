import Foundation
import LatchkeyCore
import Testing

@testable import Latchkey

/// An alarm calls nothing of the app's while it holds its lock.
@Suite(.timeLimit(.minutes(1))) struct AlarmTests {
    /// A clock of the app's that asks the alarm when a wait is cancelled.
    private final class AskingTimekeeper: Timekeeper {
        let alarm = Locked<Alarm?>(nil)
        let sleeping = Promise<Void, any Error>()
        let answer = Promise<Int, any Error>()
        let date = Date(timeIntervalSince1970: 0)
        let uptime = Duration.zero

        func sleep(for duration: Duration) async throws {
            let wait = Promise<Void, any Error>()
            try await withTaskCancellationHandler {
                sleeping.resolve(.success(()))
                try await wait.valueOrCancel()
            } onCancel: {
                // On a separate thread, so that a held lock fails the test and does not hang it.
                let asked = DispatchSemaphore(value: 0)
                let alarm = alarm.withLock { $0 }
                Thread.detachNewThread { [answer] in
                    answer.resolve(.success(alarm?.suspensions ?? -1))
                    asked.signal()
                }
                if asked.wait(timeout: .now() + 20) == .timedOut { answer.resolve(.success(-2)) }
            }
        }
    }

    @Test func `a clock may ask the alarm while the alarm cancels a wait`() async throws {
        let clock = AskingTimekeeper()
        let alarm = Alarm(clock)
        clock.alarm.withLock { $0 = alarm }
        alarm.set(at: .seconds(60)) {}
        try await clock.sleeping.value
        alarm.suspend()
        #expect(try await clock.answer.value == 1)
        clock.alarm.withLock { $0 = nil }
    }
}
