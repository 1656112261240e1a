import Foundation
import LatchkeyCore

/// Measures the time of a piece of work.
enum Stopwatch {
    /// The processor time of this thread so far, in seconds. Excludes other processes.
    static var threadTime: Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

    /// The processor time of all threads of this process so far, in seconds.
    static var processTime: Double { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// The reading of a processor-time clock, in seconds.
    static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// The thread's processor time for one piece of work, in seconds, with the work repeated for at least a number of seconds.
    /// - Parameters:
    ///   - seconds: the minimum duration.
    ///   - batch: the number of pieces between readings of the clock, which cost as much as some work.
    ///   - work: does one piece; receives its number.
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

    /// The elapsed time of one asynchronous piece of work, in seconds.
    static func wallTime(_ work: () async throws -> Void) async rethrows -> Double {
        let timekeeper = SystemTimekeeper()
        let start = timekeeper.uptime
        try await work()
        return (timekeeper.uptime - start).inSeconds
    }
}

extension Sequence<Double> {
    /// The number in the middle, or the mean of the two in the middle; `nil` without numbers.
    var median: Double? {
        let numbers = sorted()
        guard let high = numbers.dropFirst(numbers.count / 2).first else { return nil }
        guard numbers.count % 2 == 0, let low = numbers.dropFirst(numbers.count / 2 - 1).first else { return high }
        return (low + high) / 2
    }
}
