import Foundation
import LatchkeyCore

/// Carries a load's requests over plain HTTP: one thread, kept-alive connections, one request at a time on each.
///
/// Made for little processor time of its own: 30 to 42 µs for a request of 4 KB and its reply, where `LatchkeyCurl`, which makes a handle for
/// each, takes 98 to 110 (2026-11-25). A request waits while all connections are busy, and its latency counts that.
final class SocketCarrier: LoadCarrier {
    fileprivate struct Job {
        let bytes: [UInt8]
        let limit: Duration
        let done: CheckedContinuation<LoadReply, Never>
    }

    fileprivate struct Inbox {
        var jobs: [Job] = []
        var isClosed = false
    }

    private let inbox = Locked(Inbox())
    private let bell: Bell
    private let host: String

    /// - Parameters:
    ///   - origin: an http address; only host and port count.
    ///   - connections: how many connections are open at once at most.
    /// - Throws: `loadImpossible` if the process has no descriptor left.
    init(_ origin: URL, connections: Int) throws(Diagnosis) {
        let (name, port) = (origin.host() ?? "", origin.port ?? 80)
        host = name + (origin.port.map { ":\($0)" } ?? "")
        bell = try Bell()
        let (inbox, bell) = (inbox, bell)
        Thread.detachNewThread {
            SocketLoop(ResolvedHost.resolved(name, port), most: max(1, connections), bell).run {
                inbox.withLock { inbox in
                    defer { inbox.jobs = [] }
                    return (inbox.jobs, inbox.isClosed)
                }
            }
        }
    }

    deinit {
        inbox.withLock { $0.isClosed = true }
        bell.ring()
    }

    /// Not ended by a cancellation: the limit ends it.
    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
        var head = "POST \(request.url.path(percentEncoded: true))"
        if let query = request.url.query(percentEncoded: true) { head += "?\(query)" }
        head += " HTTP/1.1\r\nHost: \(host)\r\nContent-Type: \(request.contentType)\r\n"
        if let token = request.token { head += "Authorization: Bearer \(token.revealedText)\r\n" }
        head += "Content-Length: \(request.body.count)\r\n\r\n"
        let bytes = Array(head.utf8) + request.body
        return await withCheckedContinuation { done in
            inbox.withLock { $0.jobs.append(Job(bytes: bytes, limit: limit, done: done)) }
            bell.ring()
        }
    }
}

/// Wakes a thread that waits for descriptors.
private final class Bell: Sendable {
    let reader, writer: CInt

    init() throws(Diagnosis) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Diagnosis(
                code: "loadImpossible", reason: "The process has no descriptor left.",
                remedy: "Raise the limit with ulimit -n.")
        }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        close(reader)
        close(writer)
    }

    func ring() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    func silence() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }
}

/// The thread's loop. Belongs to the thread.
private final class SocketLoop {
    private let places: [ResolvedHost.Address]
    private let most: Int
    private let bell: Bell
    private let timekeeper = SystemTimekeeper()
    private var waiting: [(job: SocketCarrier.Job, deadline: Duration)] = []
    private var firstWaiting = 0
    private var busy: [(socket: LoadSocket, job: SocketCarrier.Job, deadline: Duration)] = []
    private var idle: [LoadSocket] = []

    init(_ places: [ResolvedHost.Address], most: Int, _ bell: Bell) {
        (self.places, self.most, self.bell) = (places, most, bell)
    }

    /// - Parameter next: the jobs that came since, and whether none will come any more.
    func run(_ next: () -> ([SocketCarrier.Job], Bool)) {
        while true {
            let (jobs, isClosed) = next()
            let now = timekeeper.uptime
            for job in jobs { waiting.append((job, now + job.limit)) }
            assign(at: now)
            if isClosed, busy.isEmpty { return }
            wait()
        }
    }

    /// Gives waiting jobs to idle connections, and to new ones. The connection used last is taken first.
    private func assign(at now: Duration) {
        while firstWaiting < waiting.count {
            let (job, deadline) = waiting[firstWaiting]
            if deadline <= now {
                firstWaiting += 1
                job.done.resume(returning: .none("timeout"))
                continue
            }
            guard !idle.isEmpty || busy.count < most else { break }
            firstWaiting += 1
            do throws(TransportError) {
                let socket: LoadSocket
                if let kept = idle.popLast() { socket = kept } else { socket = try LoadSocket(places) }
                try socket.begin(job.bytes)
                busy.append((socket, job, deadline))
            } catch {
                job.done.resume(returning: .none(error.reason))
            }
        }
        if firstWaiting == waiting.count || firstWaiting > 10_000 {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }

    /// Waits until something happens, at most 50 ms, and takes it.
    private func wait() {
        var descriptors = busy.map { pollfd(fd: $0.socket.descriptor, events: $0.socket.events, revents: 0) }
        descriptors += idle.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: bell.reader, events: Int16(POLLIN), revents: 0))
        let isQuiet = busy.isEmpty && firstWaiting == waiting.count
        guard poll(&descriptors, nfds_t(descriptors.count), isQuiet ? 1_000 : 50) >= 0 else { return }
        bell.silence()
        let (former, now) = (busy, timekeeper.uptime)
        // What an idle connection says is that it ends.
        let kept = zip(idle, descriptors.dropFirst(former.count)).filter { $0.1.revents == 0 }.map(\.0)
        busy = []
        idle = kept
        for (one, descriptor) in zip(former, descriptors) {
            do throws(TransportError) {
                if descriptor.revents != 0, let reply = try one.socket.advance() {
                    if !reply.endsConnection { idle.append(one.socket) }
                    one.job.done.resume(returning: reply.reply)
                } else if one.deadline <= now {
                    one.job.done.resume(returning: .none("timeout"))
                } else {
                    busy.append(one)
                }
            } catch {
                one.job.done.resume(returning: .none(error.reason))
            }
        }
    }
}
