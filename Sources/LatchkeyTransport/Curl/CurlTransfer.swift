import CCurl
import Foundation
import LatchkeyCore

/// One exchange: the request, the reply so far, and the receiver of the result.
// Sound because `answer` is behind its lock, and only the loop's thread touches everything else.
final class CurlTransfer: @unchecked Sendable {
    let message: CurlMessage
    private let configuration: CurlConfiguration
    private let bodyLimit: Int
    private let answer: Locked<CurlClient.Answer?>

    private(set) var handle: CurlHandle?
    private var head: ReplyHead
    private var body = Data()
    private var sent = 0
    private var failure: TransportError?
    private var start = ContinuousClock.now
    private var lastHeard = ContinuousClock.now
    private var hasNews = false

    /// - Parameter answer: receives the result. Called once, on the loop's thread or on the thread that cancels.
    init(
        _ message: CurlMessage, bodyLimit: Int, _ configuration: CurlConfiguration,
        _ answer: @escaping CurlClient.Answer
    ) {
        self.answer = Locked(answer)
        self.message = message
        self.bodyLimit = bodyLimit
        self.configuration = configuration
        head = ReplyHead(configuration)
    }

    /// Delivers the result. Only the first call has an effect. Call it from any thread.
    func end(_ result: Result<CurlReply, any Error>) {
        let answer = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        answer?(result)
    }

    var isEnded: Bool { answer.withLock { $0 == nil } }
}

// MARK: - On the loop's thread

extension CurlTransfer {
    /// Makes the handle of the exchange.
    func begin() throws(TransportError) -> UnsafeMutableRawPointer {
        guard let handle = CurlHandle() else {
            throw TransportError(.transportFailed, "There is no memory for the request.")
        }
        try handle.prepare(message, configuration)
        // The loop retains the transfer while the handle is in use.
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard latchkey_curl_set_callbacks(handle.easy, takeHead, takeBody, giveBody, context) == CURLE_OK else {
            throw TransportError(.transportFailed, "libcurl does not take the request's settings.")
        }
        self.handle = handle
        (start, lastHeard) = (.now, .now)
        return handle.easy
    }

    /// Frees the handle after the loop has removed it.
    func discard() { handle = nil }

    /// The remaining time until the next byte must arrive; `nil` if it has passed.
    func patience(at now: ContinuousClock.Instant) -> Duration? {
        if hasNews { (hasNews, lastHeard) = (false, now) }
        let silence = (head.isComplete ? lastHeard : start).duration(to: now)
        let left = min(message.patience - silence, configuration.longestExchange - start.duration(to: now))
        return left > .zero ? left : nil
    }

    /// Ends an exchange that took too long.
    func expire() {
        let limit = min(message.patience, configuration.longestExchange)
        let reason =
            handle?.wasConnected == false
            ? "There was no connection to \(message.place) within \(limit.inWords)."
            : "The server did not answer within \(limit.inWords)."
        end(.failure(TransportError(.timedOut, reason)))
    }

    /// Ends an exchange that libcurl has finished.
    func complete(_ code: CURLcode) {
        if let failure { return end(.failure(failure)) }
        guard code == CURLE_OK, let handle else { return end(.failure(error(code))) }
        guard head.isComplete else { return end(.failure(error(CURLE_GOT_NOTHING))) }
        end(.success(CurlReply(url: message.url, status: handle.status, headers: head.joined, body: body)))
    }

    private func error(_ code: CURLcode) -> TransportError {
        TransportError(
            code, message, failure: handle?.failure ?? "", verification: handle?.verification ?? 0,
            systemError: handle?.systemError ?? 0, isInHead: head.hasBegun && !head.isComplete)
    }

    /// - Returns: whether to continue.
    fileprivate func take(head line: UnsafeRawBufferPointer) -> Bool {
        hasNews = true
        let wasComplete = head.isComplete
        do throws(TransportError) {
            try head.take(line)
            if head.isComplete, !wasComplete, message.method != "HEAD", let length = head.statedLength {
                guard length <= bodyLimit || isBodiless else { throw isTooLarge }
                body.reserveCapacity(min(length, bodyLimit, 1 << 20))
            }
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// - Returns: whether to continue.
    fileprivate func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        hasNews = true
        guard bytes.count <= bodyLimit - body.count else {
            failure = isTooLarge
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// - Returns: the number of body bytes written to the buffer; 0 at the end.
    fileprivate func give(body buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body = message.body, sent < body.count else { return 0 }
        let count = body.dropFirst(sent).copyBytes(to: buffer)
        sent += count
        return count
    }

    private var isBodiless: Bool { [204, 304].contains(handle?.status ?? 0) }
    private var isTooLarge: TransportError {
        TransportError(.bodyTooLarge, "The reply is larger than \(bodyLimit) bytes.")
    }
}

// MARK: - Callbacks for libcurl

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

/// Any result other than the number of offered bytes ends the transfer.
private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size &* count)
    return transfer(context)?.take(head: line) == true ? line.count : -1
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = UnsafeRawBufferPointer(start: bytes, count: size &* count)
    return transfer(context)?.take(body: piece) == true ? piece.count : -1
}

private func giveBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.give(body: UnsafeMutableRawBufferPointer(start: buffer, count: size &* count)) ?? 0
}
