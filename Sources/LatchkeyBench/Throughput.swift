import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// How much was done, in which time.
struct Throughput: Sendable, Equatable {
    let pieces: Int
    /// On the clock.
    let seconds: Double
    /// Of the threads that count, together.
    let processTime: Double
    /// In seconds, what 99 of 100 pieces took at most, from question to answer; `nil` where nobody asked for single ones.
    var p99: Double?

    /// The threads whose processor time counts.
    enum Scope {
        /// All threads of the process.
        case allThreads
        /// All but the one that measures, because it only asks.
        case otherThreads
        /// Another process, by the clock of its processor time.
        case otherProcess(clockid_t)
    }

    /// Pieces per second on the clock.
    var rate: Double { Double(pieces) / seconds }
    /// Pieces per second of processor time, whatever else uses the machine.
    var processRate: Double { Double(pieces) / processTime }
    /// Seconds of processor time for one piece.
    var processTimePerPiece: Double { processTime / Double(pieces) }

    /// Does work over and over for at least so many seconds on the clock.
    /// - Parameters:
    ///   - seconds: how long.
    ///   - scope: whose processor time counts.
    ///   - work: says how many pieces it did.
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
