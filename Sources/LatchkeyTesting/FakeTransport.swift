public import Foundation
public import Latchkey
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A transport that gives a test's answers, and records its requests.
public final class FakeTransport: Transport {
    /// The result of a request.
    public enum Step: Sendable {
        /// A reply.
        case reply(HTTPReply)
        /// No reply, for this reason.
        case failure(any Error)
        /// No reply until the task is cancelled.
        case hang
        /// The call never returns, not even when the task is cancelled.
        case never

        /// A reply of status 200.
        public static func ok(_ body: Data) -> Self { .reply(HTTPReply(status: 200, body: body)) }

        /// A reply without a body.
        public static func status(_ status: Int, _ headers: [(name: String, value: String)] = []) -> Self {
            .reply(HTTPReply(status: status, headers: headers))
        }
    }

    private struct State {
        var requests: [URLRequest] = []
        var warmed: [URL] = []
        var watchers: [(count: Int, ready: Promise<Void, Never>)] = []
    }

    private let respond: @Sendable (_ request: URLRequest, _ number: Int) async -> Step
    private let state = Locked(State())

    /// - Parameter respond: returns the result of a request; requests are counted from 1.
    public init(_ respond: @escaping @Sendable (_ request: URLRequest, _ number: Int) async -> Step) {
        self.respond = respond
    }

    /// Answers GET requests and POST requests by two scripts; the last step of each repeats.
    public convenience init(get: [Step], post: [Step]) {
        let counts = Locked([String: Int]())
        self.init { request, _ in
            let method = request.httpMethod ?? "GET"
            let script = method == "POST" ? post : get
            let index = counts.withLock { counts in
                defer { counts[method, default: 0] += 1 }
                return counts[method, default: 0]
            }
            return script.indices.contains(index) ? script[index] : script.last ?? .hang
        }
    }

    /// All requests so far, in order.
    public var requests: [URLRequest] { state.withLock { $0.requests } }

    /// Waits until a number of requests, counted from the start, has been sent, or the waiting task is cancelled.
    public func untilRequested(_ count: Int = 1) async {
        let ready = Promise<Void, Never>()
        let isReady = state.withLock { state in
            if state.requests.count < count { state.watchers.append((count, ready)) }
            return state.requests.count >= count
        }
        if !isReady { try? await ready.value }
        state.withLock { $0.watchers.removeAll { $0.ready === ready } }
    }

    /// The origins to which connections were opened in advance, in order.
    public var warmed: [URL] { state.withLock { $0.warmed } }

    public func warm(_ origin: URL) async throws -> Bool {
        state.withLock { $0.warmed.append(origin) }
        return true
    }

    public func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try Task.checkCancellation()
        switch await respond(request, note(request)) {
        case .reply(var reply):
            guard reply.body.count <= bodyLimit else { throw TransportError(.bodyTooLarge, "The reply is too large.") }
            reply.url = reply.url ?? request.url
            return reply
        case .failure(let error): throw error
        case .hang:
            try await ManualTimekeeper().sleep(for: .seconds(1))
            throw CancellationError()
        case .never: return await Never.returning()
        }
    }

    private func note(_ request: URLRequest) -> Int {
        let (number, ready) = state.withLock { state in
            state.requests.append(request)
            let number = state.requests.count
            let ready = state.watchers.filter { $0.count <= number }.map(\.ready)
            state.watchers.removeAll { $0.count <= number }
            return (number, ready)
        }
        for watcher in ready { watcher.resolve(.success(())) }
        return number
    }
}

extension Never {
    /// Never returns, like code that waits for an answer that never comes. Its task is lost.
    package static func returning<Value: Sendable>() async -> Value {
        await withUnsafeContinuation { (_: UnsafeContinuation<Value, Never>) in }
    }
}
