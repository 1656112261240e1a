import Foundation
import LatchkeyCore

/// One request and its answer: starts a task that answers, and resumes the connection when the answer is there.
// Sound because tasks touch only what `lock` guards. HTTPServerCrowdTests and HTTPServerLifeTests cover both.
final class HTTPExchange: @unchecked Sendable {
    private let daemon: Daemon
    private let client: ClientConnection
    private let head: RequestHead

    private var lock: NSLock { client.exchangeLock }
    private var reply: HTTPResponse?
    /// Whether the connection waits for the answer. It does before the request is complete, too: a late one is refused.
    private var isAwaited = true
    private var work: Task<Void, Never>?
    /// The body that is being sent, if it is a stream.
    private var stream: HTTPBodyStream?

    /// - Parameters:
    ///   - client: the connection that the request arrived on.
    ///   - head: the request's.
    init(_ daemon: Daemon, _ client: ClientConnection, _ head: RequestHead) {
        (self.daemon, self.client, self.head) = (daemon, client, head)
    }

    /// Sets the answer to a refusal. Any thread may call it.
    func answer(with refusal: HTTPRefusal) { answer(with: daemon.response(refusal, to: head.request)) }

    /// Sets the answer; only the first one counts. Any thread may call it.
    func answer(with response: HTTPResponse) {
        let (isFirst, isAwaited) = lock.withLock {
            guard reply == nil else { return (false, false) }
            reply = response
            return (true, self.isAwaited)
        }
        guard isFirst else { return }
        if isAwaited { client.goOn() }
        cancelWork()
    }

    /// The answer, if it is ready.
    var answer: HTTPResponse? { lock.withLock { reply } }

    /// The answer; `nil` if there is none yet: the connection resumes when it is ready.
    func answerOrWait() -> HTTPResponse? {
        lock.withLock {
            isAwaited = reply == nil
            return reply
        }
    }

    /// Answers immediately, or starts the task that answers. The first answer, possibly that of the deadline, cancels the task, and so does
    /// `end`.
    func start(_ request: HTTPRequest) {
        let isAnswered = lock.withLock {
            isAwaited = false
            return reply != nil
        }
        if isAnswered { return }
        let answering: @Sendable () async -> HTTPResponse
        switch daemon.begin(request) {
        case .reply(let reply): return answer(with: reply)
        case .task(let work): answering = work
        }
        let task = daemon.startTask { self.answer(with: await answering()) }
        let isOver = lock.withLock {
            work = task
            return reply != nil
        }
        if isOver { task.cancel() }
    }

    /// A body is sent that is a stream. It ends when the server stops.
    func note(_ stream: HTTPBodyStream) {
        lock.withLock { self.stream = stream }
        if daemon.open.endsStreams { stream.end() }
    }

    /// Ends an endless body, because the server stops. Any thread may call it.
    func endStream() { lock.withLock { stream }?.end() }

    /// The reply is written or the client is gone.
    func end() {
        endStream()
        daemon.open.remove(self)
        cancelWork()
    }

    private func cancelWork() { lock.withLock { work }?.cancel() }
}
