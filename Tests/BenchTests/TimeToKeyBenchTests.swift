import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyBench

@Suite(.timeLimit(.minutes(5))) struct TimeToKeyBenchTests {
    @Test(arguments: [
        (TimeToKeyBench.Order.cold, 3), (.warm, 3), (.samples, 4),
        // With two tokens: for the certificate and for the license.
        (.fetchedTokens, 5), (.preloaded, 7), (.preloadedIntoPlayer, 7),
    ])
    func `an order makes its exchanges and gets the key`(_ order: TimeToKeyBench.Order, _ exchanges: Int) async throws {
        let clock = CountingTimekeeper()
        let bench = try TimeToKeyBench(roundTrip: .milliseconds(50), timekeeper: clock)
        _ = try await bench.time(order)
        await bench.stop()
        #expect(clock.waits.withLock { $0 } == Array(repeating: .milliseconds(50), count: exchanges))
    }
}

/// Never waits, and counts how often it should have.
private struct CountingTimekeeper: Timekeeper {
    let waits = Locked<[Duration]>([])
    var date: Date { Date(timeIntervalSince1970: 0) }
    var uptime: Duration { .zero }
    func sleep(for duration: Duration) async throws { waits.withLock { $0.append(duration) } }
}
