import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// An amount of work and its time.
struct Throughput: Sendable, Equatable {
    let pieces: Int
    /// Elapsed time.
    let seconds: Double
    /// The processor time of all counted threads.
    let processTime: Double
    /// The 99th percentile of the time from request to reply, in seconds; `nil` if single pieces were not timed.
    var p99: Double?

    /// The threads whose processor time counts.
    enum Scope {
        /// All threads of the process.
        case allThreads
        /// All but the measuring thread, which only sends requests.
        case otherThreads
        /// Another process, by its processor-time clock.
        case otherProcess(clockid_t)
    }

    /// Pieces per second of elapsed time.
    var rate: Double { Double(pieces) / seconds }
    /// Pieces per second of processor time, independent of other users of the machine.
    var processRate: Double { Double(pieces) / processTime }
    /// Seconds of processor time for one piece.
    var processTimePerPiece: Double { processTime / Double(pieces) }

    /// Repeats work for at least a number of seconds of elapsed time.
    /// - Parameters:
    ///   - seconds: the minimum duration.
    ///   - scope: the threads whose processor time counts.
    ///   - work: returns the number of completed pieces.
    static func measure<Failure: Error>(
        seconds: Double, counting scope: Scope = .allThreads, _ work: () throws(Failure) -> Int
    ) throws(Failure) -> Throughput {
        let timekeeper = SystemTimekeeper()
        let processTime = {
            switch scope {
            case .allThreads: Stopwatch.processTime
            case .otherThreads: Stopwatch.processTime - Stopwatch.threadTime
            case .otherProcess(let clock): Stopwatch.seconds(of: clock)
            }
        }
        let (start, processStart) = (timekeeper.uptime, processTime())
        var pieces = 0
        while true {
            pieces += try work()
            let spent = (timekeeper.uptime - start).inSeconds
            guard spent >= seconds else { continue }
            return Throughput(pieces: pieces, seconds: spent, processTime: processTime() - processStart)
        }
    }
}
