import Foundation
import LatchkeyCore
import LatchkeyHTTP

/// Carries a load's requests over plain HTTP, from its own thread. A request waits while all connections are busy, and its latency includes
/// the wait.
final class SocketCarrier: LoadCarrier {
    private typealias Job = (bytes: [UInt8], limit: Duration, done: CheckedContinuation<LoadReply, Never>)

    /// The requests that the thread has not taken; `nil` once it should end.
    private let inbox = Locked<[Job]?>([])
    private let alarm: ThreadAlarm
    private let host: String

    /// - Parameters:
    ///   - origin: an http address; only host and port count.
    ///   - connections: the maximum number of open connections.
    /// - Throws: `loadImpossible` if the process has no descriptor left.
    init(_ origin: URL, connections: Int) throws(Diagnosis) {
        let (name, port) = (origin.host() ?? "", origin.port ?? 80)
        host = name + (origin.port.map { ":\($0)" } ?? "")
        guard let alarm = ThreadAlarm() else {
            throw Diagnosis(
                code: "loadImpossible", reason: "The process has no descriptor left.",
                remedy: "Raise the limit with ulimit -n.")
        }
        self.alarm = alarm
        Thread.detachNewThread { [inbox] in
            let loop = RequestLoop(host: name, port: port, connections: connections, alarm: alarm)
            while let jobs = inbox.withLock({ jobs in
                defer { jobs = jobs.map { _ in [] } }
                return jobs
            }) {
                for job in jobs {
                    loop.send(job.bytes, within: job.limit) { job.done.resume(returning: LoadReply($0)) }
                }
                loop.step()
            }
        }
    }

    deinit {
        inbox.withLock { $0 = nil }
        alarm.ring()
    }

    /// A cancellation does not end it; the time limit does.
    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
        let bytes = request.http.bytes(to: host)
        return await withCheckedContinuation { done in
            inbox.withLock { $0?.append((bytes, limit, done)) }
            alarm.ring()
        }
    }
}
