import Foundation
import LatchkeyCore

/// One request and its answer: starts a task that answers, and resumes the connection when the answer is there.
// Sound because tasks touch only what `lock` guards. HTTPServerCrowdTests and HTTPServerLifeTests cover both.
final class HTTPExchange: @unchecked Sendable {
    private let daemon: Daemon
    private let client: ClientConnection

    private var lock: NSLock { client.exchangeLock }
    /// The answer, or why the server itself refuses.
    private var reply: Result<HTTPResponse, HTTPRefusal>?
    /// Whether the connection waits for the answer. It does before the request is complete, too: a late one is refused.
    private var isAwaited = true
    private var work: Task<Void, Never>?
    /// The body that is being sent, if it is a stream.
    private var stream: HTTPBodyStream?

    /// - Parameter client: the connection that the request arrived on.
    init(_ daemon: Daemon, _ client: ClientConnection) { (self.daemon, self.client) = (daemon, client) }

    /// Sets the answer to a refusal. Any thread may call it.
    func answer(with refusal: HTTPRefusal) { answer(with: .failure(refusal)) }

    /// Sets the answer; only the first one counts. Any thread may call it.
    private func answer(with reply: Result<HTTPResponse, HTTPRefusal>) {
        let (isFirst, isAwaited) = lock.withLock {
            guard self.reply == nil else { return (false, false) }
            self.reply = reply
            return (true, self.isAwaited)
        }
        guard isFirst else { return }
        if isAwaited { client.goOn() }
        cancelWork()
    }

    /// Whether the answer is ready.
    var isAnswered: Bool { lock.withLock { reply != nil } }

    /// The answer; `nil` if there is none yet: the connection resumes when it is ready.
    func answerOrWait() -> Result<HTTPResponse, HTTPRefusal>? {
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
        case .reply(let reply): return answer(with: .success(reply))
        case .task(let work): answering = work
        }
        let task = daemon.startTask { self.answer(with: .success(await answering())) }
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
