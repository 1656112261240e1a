import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// How a connection sends a reply and ends. The loop's thread alone calls these.
extension ClientConnection {
    /// Refuses the request. Further bytes from the client are not read as a request.
    /// - Parameter request: its known parts. Defaults to the request of its head.
    func refuse(_ refusal: HTTPRefusal, _ request: HTTPRequest? = nil) -> Progress {
        endExchange()
        (input, inputStart, body, chunks) = ([], 0, Data(), nil)
        return start(loop.daemon.response(refusal, to: request ?? head?.request))
    }

    func send(_ response: HTTPResponse) -> Progress {
        if case .reset = response.body {
            latchkey_reset(socket)
            return .close
        }
        if case .stream(let stream) = response.body { exchange?.note(stream) }
        return start(response)
    }

    private func start(_ response: HTTPResponse) -> Progress {
        reply = OutgoingReply(
            response, to: head, isLast: loop.daemon.isDraining, date: loop.date, into: &output)
        (stage, hasSent) = (.reply, false)
        return .goOn
    }

    func sendReply() -> Progress {
        switch flush() {
        case .goOn: break
        case .wait:
            if phase != .reply { enter(.reply) }
            return .wait
        case .close: return .close
        }
        guard let reply else { return .close }
        switch reply.fill(&output, for: self) {
        case .bytes: return .goOn
        case .later:
            enter(.stream)
            guard hasPeerEnded else { return .wait }
            reply.endStream()
            return .goOn
        case .broken: return .close
        case .end: return finishReply(reply)
        }
    }

    private func finishReply(_ sent: OutgoingReply) -> Progress {
        let wasRefused = exchange == nil
        endExchange()
        (reply, head) = (nil, nil)
        guard !sent.keepsConnection else {
            stage = .head
            enter(inputStart < input.count ? .head : .idle)
            // It could make room for others now.
            loop.daemon.openFiles.wake()
            return .goOn
        }
        tls?.finish()
        let hasUnread = inputStart < input.count || latchkey_has_unread(socket)
        guard wasRefused || hasUnread, !hasPeerEnded || hasUnread else { return .close }
        shutdown(socket, Int32(SHUT_WR))
        (input, inputStart, received, stage) = ([], 0, 0, .leaving)
        enter(.leaving)
        return .goOn
    }

    /// Sends as much of the output as the socket takes.
    func flush() -> Progress {
        while outputStart < output.count {
            guard canWrite else { return .wait }
            let outcome = output.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[outputStart...])) }
            switch outcome {
            case .done(let count):
                outputStart += count
                moved += count
                hasSent = true
                if phase == .reply { progress() }
            case .later: canWrite = false
            case .ended, .failed: return .close
            }
        }
        (output, outputStart) = ([], 0)
        return .goOn
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Outcome {
        if let tls { return tls.send(bytes) }
        let count = latchkey_send(socket, bytes.baseAddress, bytes.count)
        guard count < 0 else { return .done(count) }
        switch errno {
        case EAGAIN, EWOULDBLOCK: return .later
        case EINTR: return .done(0)
        default: return .failed
        }
    }

    /// The reply is written or given up.
    private func endExchange() {
        exchange?.end()
        exchange = nil
    }

    /// Closes the socket. Once.
    func close() {
        guard stage != .closed else { return }
        stage = .closed
        loop.daemon.connections.remove(self)
        reply?.abandon()
        endExchange()
        (reply, input, output) = (nil, [], [])
        Foundation.close(socket)
        loop.daemon.openFiles.give()
    }
}
