import CSockets
import Foundation
package import LatchkeyCore

/// Sends requests to one server over plain HTTP and connections that stay, one request at a time on each: the client of every load.
///
/// Takes little processor time, which a server under load on the same machine needs: 30 to 42 µs for a request of 4 KB and its reply, where
/// `LatchkeyTransport`, which makes a handle for each, takes 98 to 110 (2026-11-25). Belongs to one thread.
package final class RequestLoop {
    /// A whole reply, or the reason that none came.
    package typealias Outcome = Result<HTTPResponse, TransportError>

    private struct Job {
        let bytes: [UInt8]
        let deadline: Duration
        let done: (Outcome) -> Void
    }

    private let addresses: [SocketAddress]
    private let most: Int
    private let alarm: ThreadAlarm?
    private let timekeeper = SystemTimekeeper()
    private var waiting: [Job] = []
    private var firstWaiting = 0
    private var busy: [(connection: RequestConnection, job: Job)] = []
    private var idle: [RequestConnection] = []

    /// Looks up the host, which blocks.
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: the TCP port.
    ///   - connections: the most concurrent connections. A request waits while all are busy.
    ///   - alarm: ends a step early. Defaults to none.
    package init(host: String, port: Int, connections: Int, alarm: ThreadAlarm? = nil) {
        addresses = SocketAddress.resolved(host, port: port)
        (most, self.alarm) = (max(1, connections), alarm)
    }

    /// Whether replies are to come.
    package var isBusy: Bool { !busy.isEmpty || firstWaiting < waiting.count }

    /// Sends a request in one of the next steps.
    /// - Parameters:
    ///   - request: as it goes over the wire.
    ///   - limit: how long to wait for the reply, a free connection included.
    ///   - done: takes the outcome, within a step.
    package func send(_ request: [UInt8], within limit: Duration, _ done: @escaping (Outcome) -> Void) {
        waiting.append(Job(bytes: request, deadline: timekeeper.uptime + limit, done: done))
    }

    /// Sends waiting requests, sleeps until something arrives, for at most a second, and hands over complete replies.
    package func step() {
        assign(at: timekeeper.uptime)
        let ready = sleep()
        if !ready.isEmpty { take(ready, at: timekeeper.uptime) }
    }

    /// Gives waiting requests to idle connections, and to new ones. The connection used last is taken first.
    private func assign(at now: Duration) {
        while firstWaiting < waiting.count {
            let job = waiting[firstWaiting]
            if job.deadline <= now {
                firstWaiting += 1
                job.done(.failure(.late))
                continue
            }
            guard !idle.isEmpty || busy.count < most else { break }
            firstWaiting += 1
            do throws(TransportError) {
                let connection: RequestConnection
                if let kept = idle.popLast() { connection = kept } else { connection = try .init(addresses) }
                try connection.begin(job.bytes)
                busy.append((connection, job))
            } catch {
                job.done(.failure(error))
            }
        }
        if firstWaiting == waiting.count || firstWaiting > 10_000 {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }

    /// - Returns: which descriptors are ready: of the busy connections, then of the idle ones; empty if that is unknown.
    private func sleep() -> [Bool] {
        var descriptors = busy.map { pollfd(fd: $0.connection.descriptor, events: $0.connection.events, revents: 0) }
        descriptors += idle.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: alarm?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
        // Deadlines are checked this often.
        guard poll(&descriptors, nfds_t(descriptors.count), isBusy ? 50 : 1_000) >= 0 else { return [] }
        alarm?.sleep(besides: nil, milliseconds: 0)
        return descriptors.map { $0.revents != 0 }
    }

    private func take(_ ready: [Bool], at now: Duration) {
        let former = busy
        busy = []
        // An idle connection that is readable has ended.
        idle = zip(idle, ready.dropFirst(former.count)).filter { !$0.1 }.map(\.0)
        for ((connection, job), isReady) in zip(former, ready) {
            do throws(TransportError) {
                if isReady, let reply = try connection.advance() {
                    if connection.isKept { idle.append(connection) }
                    job.done(.success(reply))
                } else if job.deadline <= now {
                    throw .late
                } else {
                    busy.append((connection, job))
                }
            } catch {
                job.done(.failure(error))
            }
        }
    }
}

extension TransportError {
    fileprivate static let late = TransportError(.timedOut, "timeout")
}

extension HTTPRequest {
    /// The request as a client sends it.
    /// - Parameter host: the value of `Host`.
    package func bytes(to host: String) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n"
        for field in headers.fields { head += "\(field.name): \(field.value)\r\n" }
        return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }
}
