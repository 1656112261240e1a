import Foundation
import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimekeeperTests {
    @Test func `uptime never goes back`() {
        let readings = (0..<100).map { _ in SystemTimekeeper().uptime }
        #expect(readings == readings.sorted())
    }

    @Test func `a cancelled sleep ends with an error`() async {
        let sleep = Task { try await SystemTimekeeper().sleep(for: .seconds(3_600)) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test(arguments: [(Duration.milliseconds(1_500), 1.5), (.zero, 0), (.seconds(-2), -2), (.microseconds(1), 1e-6)])
    func `a duration is a number of seconds`(duration: Duration, seconds: Double) {
        #expect(abs(duration.inSeconds - seconds) < 1e-12)
        #expect(abs(duration.inMilliseconds - seconds * 1_000) < 1e-9)
    }

    @Test(arguments: [
        (Duration.zero, "0 ms"), (.milliseconds(250), "250 ms"), (.seconds(1), "1 s"), (.seconds(1.5), "1.5 s"),
        (.seconds(30), "30 s"), (.microseconds(1_400), "1 ms"), (.seconds(86_400), "86400 s"),
    ])
    func `a duration has words`(duration: Duration, words: String) { #expect(duration.inWords == words) }
}
