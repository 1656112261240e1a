import Foundation
import LatchkeyCore
import LatchkeyHTTP

/// A light load generator: one thread, several persistent connections, one request at a time on each.
struct LicenseLoad: Sendable {
    let port: UInt16
    /// The requests, sent in turn.
    var requests: [[UInt8]]
    /// The number of open connections.
    var connections = 16
    /// Whether a request that a busy server refuses is sent again without being counted; otherwise it ends the run.
    var comesAgain = false
    /// The threads whose processor time counts.
    var counting = Throughput.Scope.otherThreads
    /// Sends requests for a number of seconds, from a dedicated thread.
    /// - Throws: `loadFailed` for the first reply that is not a license.
    func run(seconds: Double) async throws -> Throughput {
        try await onThread { try generate(seconds: seconds) }
    }

    private func generate(seconds: Double) throws(Diagnosis) -> Throughput {
        let loop = RequestLoop(host: "127.0.0.1", port: Int(port), connections: connections)
        let timekeeper = SystemTimekeeper()
        var (sent, times) = (0, [Double]())
        var replies: [(begun: Duration, outcome: RequestLoop.Outcome)] = []
        func sendNext() {
            let begun = timekeeper.uptime
            loop.send(requests[sent % requests.count], within: RequestLoop.patience) { replies.append((begun, $0)) }
            sent += 1
        }
        for _ in 0..<connections { sendNext() }
        var outcome = try Throughput.measure(seconds: seconds, counting: counting) { () throws(Diagnosis) in
            loop.step()
            let before = times.count
            for (begun, outcome) in replies {
                if try outcome.accepted(unlessBusy: comesAgain) != nil {
                    times.append((timekeeper.uptime - begun).inSeconds)
                }
                sendNext()
            }
            replies.removeAll(keepingCapacity: true)
            return times.count - before
        }
        times.sort()
        outcome.p99 = times.isEmpty ? nil : times[times.count * 99 / 100]
        return outcome
    }
}

extension RequestLoop {
    fileprivate static let patience = Duration.seconds(30)

    /// The reply to one request. Blocks until it arrives.
    /// - Throws: `loadFailed` for anything but a 200 with a body.
    func reply(to request: [UInt8]) throws(Diagnosis) -> HTTPResponse {
        var outcome: Outcome?
        send(request, within: Self.patience) { outcome = $0 }
        while true {
            step()
            if let reply = try outcome?.accepted() { return reply }
        }
    }
}

extension RequestLoop.Outcome {
    /// The reply; `nil` for the refusal of a busy server, if that is allowed.
    /// - Throws: `loadFailed` for anything else but a 200 with a body.
    fileprivate func accepted(unlessBusy: Bool = false) throws(Diagnosis) -> HTTPResponse? {
        switch self {
        case .failure(let error): throw .loadFailed(error.reason)
        case .success(let reply) where unlessBusy && reply.status == 503: return nil
        case .success(let reply):
            guard reply.status == 200 else { throw .loadFailed("the server answered with status \(reply.status)") }
            guard reply.bytes?.isEmpty == false else { throw .loadFailed("a license is empty") }
            return reply
        }
    }
}

/// The RSA operation alone, on all cores in parallel: the baseline for licenses over HTTP.
struct RSABound: Sendable {
    let bench: KeyServerBench
    let threads: Int

    /// Repeats the operation for a number of seconds.
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

/// Runs blocking work on a dedicated thread, so that Swift's few threads stay available to the server.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Promise.value { done in
        Thread.detachNewThread { done.resolve(Swift.Result { try work() }) }
    }
}
