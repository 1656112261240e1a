import Foundation
import LatchkeyCore

/// Measures what a piece of work takes.
enum Stopwatch {
    /// The processor time that this thread has had, in seconds. What other processes take does not count.
    static var threadTime: Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

    /// The processor time that all threads of this process have had, in seconds.
    static var processTime: Double { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// What a clock of processor time shows, in seconds.
    static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Seconds of the thread's processor time for one piece of work, done over and over for at least so many seconds.
    /// - Parameters:
    ///   - seconds: how long to go on.
    ///   - batch: after how many pieces the clock is asked; asking costs as much as some work.
    ///   - work: does one piece; learns its number.
    static func threadTime(perPieceFor seconds: Double, batch: Int = 8, _ work: (Int) throws -> Void) rethrows -> Double
    {
        let start = threadTime
        var count = 0
        while true {
            for _ in 0..<batch {
                try work(count)
                count += 1
            }
            let spent = threadTime - start
            if spent >= seconds { return spent / Double(count) }
        }
    }

    /// Seconds on the clock for one asynchronous piece of work.
    static func wallTime(_ work: () async throws -> Void) async rethrows -> Double {
        let timekeeper = SystemTimekeeper()
        let start = timekeeper.uptime
        try await work()
        return (timekeeper.uptime - start).inSeconds
    }
}

extension Sequence<Double> {
    /// The number in the middle, or between the two in the middle; `nil` if there is none.
    var median: Double? {
        let numbers = sorted()
        guard let high = numbers.dropFirst(numbers.count / 2).first else { return nil }
        guard numbers.count % 2 == 0, let low = numbers.dropFirst(numbers.count / 2 - 1).first else { return high }
        return (low + high) / 2
    }
}
