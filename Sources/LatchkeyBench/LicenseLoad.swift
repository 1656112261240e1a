import Foundation
import LatchkeyCore

/// A light load generator: one thread, some connections that are kept alive, one request at a time on each.
struct LicenseLoad: Sendable {
    let port: UInt16
    /// What to send; taken in turn.
    var requests: [[UInt8]]
    /// Connections open at once.
    var connections = 16
    /// Whether a request that a busy server refuses is sent again, and not counted; else it ends the run.
    var comesAgain = false
    /// Whose processor time counts.
    var counting = Throughput.Scope.otherThreads
    /// Milliseconds.
    private static let patience: Int32 = 30_000

    /// Sends requests for so many seconds, from a thread of its own.
    /// - Throws: `loadFailed` for the first reply that is no license.
    func run(seconds: Double) async throws -> Throughput {
        try await onThread { try generate(seconds: seconds) }
    }

    private func generate(seconds: Double) throws(Diagnosis) -> Throughput {
        var open: [LoadConnection] = []
        for _ in 0..<connections { open.append(try LoadConnection(port: port)) }
        var waiting = open.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        var sent = 0
        let timekeeper = SystemTimekeeper()
        var (begun, times) = (open.map { _ in timekeeper.uptime }, [Double]())
        for connection in open { try sendNext(on: connection, &sent) }
        var outcome = try Throughput.measure(seconds: seconds, counting: counting) { () throws(Diagnosis) in
            guard poll(&waiting, nfds_t(waiting.count), Self.patience) > 0 else {
                throw .loadFailed("no reply in 30 s")
            }
            var licenses = 0
            for (index, descriptor) in waiting.enumerated() where descriptor.revents != 0 {
                guard let license = try open[index].receive(comesAgain: comesAgain) else { continue }
                guard !license.isEmpty || comesAgain else { throw .loadFailed("a license is empty") }
                let now = timekeeper.uptime
                if !license.isEmpty {
                    licenses += 1
                    times.append((now - begun[index]).inSeconds)
                }
                begun[index] = now
                try sendNext(on: open[index], &sent)
            }
            return licenses
        }
        times.sort()
        outcome.p99 = times.isEmpty ? nil : times[times.count * 99 / 100]
        return outcome
    }

    private func sendNext(on connection: LoadConnection, _ sent: inout Int) throws(Diagnosis) {
        try connection.send(requests[sent % requests.count])
        sent += 1
    }
}

/// The RSA operation alone, on all cores at once: what the licenses over HTTP are measured against.
struct RSABound: Sendable {
    let bench: KeyServerBench
    let threads: Int

    /// Does them for so many seconds.
    func run(seconds: Double) async throws -> Throughput {
        let start = Stopwatch.processTime
        let runs = try await withThrowingTaskGroup(of: Throughput.self) { group in
            for _ in 0..<threads { group.addTask { try await onThread { try unwrap(seconds) } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return Throughput(
            pieces: runs.map(\.pieces).reduce(0, +), seconds: runs.map(\.seconds).max() ?? 0,
            processTime: Stopwatch.processTime - start)
    }

    private func unwrap(_ seconds: Double) throws -> Throughput {
        try Throughput.measure(seconds: seconds) {
            for number in bench.spcs.indices { try bench.unwrap(number) }
            return bench.spcs.count
        }
    }
}

/// Runs work that blocks on a thread of its own, so that Swift's few threads stay the server's.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Promise.value { done in
        Thread.detachNewThread { done.resolve(Swift.Result { try work() }) }
    }
}
