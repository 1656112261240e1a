import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem

/// The thread of a connection: sends the calls that tasks leave in the inbox, and hands the answers to the waiting tasks, in order.
struct RedisDriver {
    /// A sent call, and the answers so far.
    private struct Sent {
        var call: RedisCall
        var deadline: Duration
        var answers: [RESPValue] = []
    }

    private let address: RedisAddress
    private let inbox: RedisInbox
    private let limit: Duration
    /// How long connecting may take, and each question while connecting.
    private let connectLimit: Duration
    private let timekeeper: any Timekeeper
    private var socket: RedisSocket?
    private var sent: [Sent] = []
    private var unsent: ArraySlice<UInt8> = []

    init(_ address: RedisAddress, _ inbox: RedisInbox, limit: Duration, timekeeper: any Timekeeper) {
        self.address = address
        self.inbox = inbox
        self.limit = limit
        connectLimit = max(.milliseconds(250), limit)
        self.timekeeper = timekeeper
    }

    /// Runs until the client is released.
    mutating func run() {
        while let calls = inbox.take() {
            do throws(StoreError) {
                if !calls.isEmpty, socket == nil { socket = try connected() }
                try step(calls)
            } catch {
                fail(error, calls)
            }
            wait()
        }
        fail(.redis("The client was closed."), [])
    }

    /// Sends new calls, and takes the answers.
    private mutating func step(_ calls: [RedisCall]) throws(StoreError) {
        guard let socket else { return }
        for call in calls {
            unsent += call.bytes
            sent.append(Sent(call: call, deadline: timekeeper.uptime + limit))
        }
        if !unsent.isEmpty { unsent = unsent.dropFirst(try socket.send(unsent)) }
        try socket.receive()
        while let answer = try socket.answer() { try take(answer) }
        if let first = sent.first, first.deadline <= timekeeper.uptime {
            // Fails the younger calls, too, which did not wait for as long.
            var error = StoreError.redis("Redis did not answer within \(limit.inWords).")
            error.isLate = true
            throw error
        }
    }

    private mutating func take(_ answer: RESPValue) throws(StoreError) {
        guard !sent.isEmpty else { throw .redis("Redis sent an unexpected reply.") }
        sent[0].answers.append(answer)
        if sent[0].answers.count == sent[0].call.count {
            let done = sent.removeFirst()
            done.call.promise.resolve(.success(done.answers))
        }
        // Not the primary any more: find the new one.
        if case .error(let text) = answer, text.hasPrefix("READONLY") { throw StoreError(redis: text) }
    }

    /// Fails all calls: it is unknown whether the sent ones were carried out.
    private mutating func fail(_ error: StoreError, _ calls: [RedisCall]) {
        for one in sent { one.call.promise.resolve(.failure(error)) }
        for call in calls { call.promise.resolve(.failure(error)) }
        (socket, sent, unsent) = (nil, [], [])
    }

    /// Waits until there are calls to send or answers to take, or the time of the first call is over.
    private func wait() {
        var waiting = [pollfd(fd: inbox.bell, events: Int16(POLLIN), revents: 0)]
        if let socket {
            let events = unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
            waiting.append(pollfd(fd: socket.descriptor, events: Int16(events), revents: 0))
        }
        let left = sent.first.map { max(.zero, $0.deadline - timekeeper.uptime).wholeMilliseconds }
        poll(&waiting, nfds_t(waiting.count), left ?? -1)
    }

    // MARK: Connecting

    private func connected() throws(StoreError) -> RedisSocket {
        let trust = try address.trust()
        switch address.form {
        case .server(let place): return try server(at: place, trust)
        case .node(let place): return try server(at: place, trust)
        case .cluster: throw .redis("A connection must be to one node of a cluster.", .misconfigured)
        case .sentinels(let places, let name):
            var failure = StoreError.redis("No sentinel knows the primary.")
            // A sentinel that was cut off may name a former primary.
            for sentinel in places {
                guard let place = place(by: sentinel, name, trust) else { continue }
                do throws(StoreError) { return try server(at: place, trust) } catch { failure = error }
            }
            throw failure
        }
    }

    private func server(at place: RedisAddress.Endpoint, _ trust: TLSTrust?) throws(StoreError) -> RedisSocket {
        let socket = try RedisSocket(place, within: connectLimit, trusting: trust, timekeeper: timekeeper)
        func ask(_ command: [String]) throws(StoreError) -> RESPValue {
            let answer = try socket.ask(command, within: connectLimit)
            if case .error(let text) = answer { throw StoreError(redis: text) }
            return answer
        }
        if let words = try address.login() { _ = try ask(words) }
        if address.database != 0 { _ = try ask(["SELECT", "\(address.database)"]) }
        // A node of a cluster redirects requests that it does not take.
        if case .node = address.form { return socket }
        guard try ask(["ROLE"]).elements?.first?.text == "master" else {
            throw .redis("The Redis server is a replica.", remedy: "Use the address of the primary, or of sentinels.")
        }
        return socket
    }

    /// The primary that a sentinel names; `nil` if it does not.
    private func place(
        by sentinel: RedisAddress.Endpoint, _ name: String, _ trust: TLSTrust?
    ) -> RedisAddress.Endpoint? {
        guard
            let socket = try? RedisSocket(
                sentinel, within: connectLimit, trusting: trust, timekeeper: timekeeper),
            let answer = try? socket.ask(["SENTINEL", "get-master-addr-by-name", name], within: connectLimit),
            let parts = answer.elements, parts.count == 2, let host = parts[0].text,
            let port = parts[1].text.flatMap({ UInt16($0) })
        else { return nil }
        return .host(host, port: port)
    }
}
