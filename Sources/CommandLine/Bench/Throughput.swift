import LatchkeyCore

/// How much was done, in which time.
struct Throughput: Sendable, Equatable {
    let pieces: Int
    /// On the clock.
    let seconds: Double
    /// Of all threads of the process together.
    let processTime: Double

    /// Pieces per second on the clock.
    var rate: Double { Double(pieces) / seconds }
    /// Pieces per second of processor time, whoever else uses the machine.
    var processRate: Double { Double(pieces) / processTime }

    /// Does work over and over for at least so many seconds on the clock.
    /// - Parameter work: says how many pieces it did.
    static func measure<Failure: Error>(
        seconds: Double, _ work: () throws(Failure) -> Int
    ) throws(Failure) -> Throughput {
        let timekeeper = SystemTimekeeper()
        let (start, processStart) = (timekeeper.uptime, Stopwatch.processTime)
        var pieces = 0
        while true {
            pieces += try work()
            let spent = (timekeeper.uptime - start).inSeconds
            guard spent >= seconds else { continue }
            return Throughput(pieces: pieces, seconds: spent, processTime: Stopwatch.processTime - processStart)
        }
    }
}
