import Foundation
import LatchkeyCore

/// A light load generator: one thread, some connections that are kept alive, one request at a time on each.
struct LicenseLoad: Sendable {
    let port: UInt16
    /// What to send; taken in turn.
    let requests: [[UInt8]]
    /// Connections open at once.
    var connections = 16

    /// What came of a run.
    struct Outcome: Sendable {
        let licenses: Int
        let seconds: Double
        var rate: Double { Double(licenses) / seconds }
    }

    /// Sends requests for so many seconds, from a thread of its own.
    /// - Throws: `loadFailed` for the first reply that is no license.
    func run(seconds: Double) async throws -> Outcome {
        try await onThread { try generate(seconds: seconds) }
    }

    private func generate(seconds: Double) throws(BenchError) -> Outcome {
        var open: [LoadConnection] = []
        for _ in 0..<connections { open.append(try LoadConnection(port: port)) }
        var waiting = open.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        var sent = 0
        for connection in open { try sendNext(on: connection, &sent) }
        let start = ContinuousClock.now
        var licenses = 0
        while start.duration(to: .now) < .seconds(seconds) {
            guard poll(&waiting, nfds_t(waiting.count), 5_000) > 0 else { throw .load("no reply in 5 s") }
            for (index, descriptor) in waiting.enumerated() where descriptor.revents != 0 {
                guard let license = try open[index].receive() else { continue }
                guard !license.isEmpty else { throw .load("a license is empty") }
                licenses += 1
                try sendNext(on: open[index], &sent)
            }
        }
        return Outcome(licenses: licenses, seconds: (start.duration(to: .now)).inSeconds)
    }

    private func sendNext(on connection: LoadConnection, _ sent: inout Int) throws(BenchError) {
        try connection.send(requests[sent % requests.count])
        sent += 1
    }
}

/// The RSA operation alone, on all cores at once: what the licenses over HTTP are measured against.
struct RSABound: Sendable {
    let bench: KeyServerBench
    let threads: Int

    /// Operations per second on the clock.
    func rate(seconds: Double) async throws -> Double {
        try await withThrowingTaskGroup(of: Double.self) { group in
            for _ in 0..<threads { group.addTask { try await onThread { try rateOfOneThread(seconds) } } }
            return try await group.reduce(0, +)
        }
    }

    private func rateOfOneThread(_ seconds: Double) throws -> Double {
        let start = ContinuousClock.now
        var count = 0
        while start.duration(to: .now) < .seconds(seconds) {
            for _ in 0..<8 {
                try bench.unwrap(count)
                count += 1
            }
        }
        return Double(count) / start.duration(to: .now).inSeconds
    }
}

/// Runs work that blocks on a thread of its own, so that Swift's few threads stay the server's.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
}
