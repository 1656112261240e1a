import CSockets
import Foundation
import LatchkeyCore

/// A connection's work when its socket is ready, or an answer is there. The loop's thread alone calls these.
extension ClientConnection {
    enum Progress {
        /// There may be more to do.
        case goOn
        /// The socket, or an answer, has to come first.
        case wait
        case close
    }

    /// The limit of one turn; then it is another connection's, however much has arrived.
    static let mostBytesInTurn = 64 * 1_024
    static let longestTurn = Duration.milliseconds(1)
    /// A step, such as a record of TLS, a chunk and a request take as much time as so many bytes, however short they are.
    private static let bytesOfStep = 1_024
    private static let bytesOfChunk = 256
    private static let bytesOfRequest = 2 * 1_024
    private static let mostDiscarded = 256 * 1_024

    /// Does the work that requires no waiting, but no more than fits into a turn.
    /// - Returns: `goOn` if there is more to do.
    func takeTurn() -> Progress {
        let end = loop.daemon.time.uptime + Self.longestTurn
        moved = 0
        repeat {
            let wasReply = stage == .reply
            let progress = step()
            moved += wasReply && stage == .head ? Self.bytesOfRequest : Self.bytesOfStep
            guard case .goOn = progress else { return progress }
        } while moved < Self.mostBytesInTurn && loop.daemon.time.uptime < end
        // Until its next turn it may be closed to make room, as one whose client takes nothing. Not before the client was sent something: a turn
        // may be over before that on a busy machine.
        if stage == .reply, phase == .answer, hasSent { enter(.reply) }
        return .goOn
    }

    private func step() -> Progress {
        switch stage {
        case .handshake: shakeHands()
        case .head: readHead()
        case .body: readBody()
        case .answer: takeAnswer()
        case .reply: sendReply()
        case .leaving: discard()
        case .closed: .wait
        }
    }

    private func shakeHands() -> Progress {
        guard !isShakingHands, let tls else { return .wait }
        switch handshake.take() {
        case .done:
            (stage, canRead, canWrite) = (.head, true, true)
            return .goOn
        case .ended, .failed: return .close
        case .later, nil: break
        }
        guard !hasPeerEnded else { return .close }
        guard tls.waitsToWrite ? canWrite : canRead else { return .wait }
        (isShakingHands, canRead, canWrite) = (true, false, false)
        loop.daemon.handshakes?.add(of: address) { [self] in
            handshake = self.tls?.shakeHands()
            goOn()
        }
        return .wait
    }

    private func readHead() -> Progress {
        do {
            var found = try nextHead()
            if found == nil {
                guard startReading() else { return .close }
                let progress = receive()
                if case .goOn = progress { found = try nextHead() }
                if found == nil {
                    stopReading()
                    return progress
                }
            }
            guard let found else { return .goOn }
            use(found.count)
            scan = HeadScan()
            return begin(found.head)
        } catch {
            let known = input.withUnsafeBytes { scan.request(in: .init(rebasing: $0[inputStart...])) }
            return refuse(error as? HTTPRefusal ?? .headTooLarge, known)
        }
    }

    private func nextHead() throws -> (head: RequestHead, count: Int)? {
        try input.withUnsafeBytes { bytes in
            try scan.head(in: .init(rebasing: bytes[inputStart...]), most: limits.headerBytes)
        }
    }

    private func begin(_ head: RequestHead) -> Progress {
        self.head = head
        let exchange = HTTPExchange(loop.daemon, self)
        guard loop.daemon.admit(exchange) else { return refuse(.stopping) }
        self.exchange = exchange
        received = 0
        switch head.framing {
        case .length(0): return startAnswer()
        case .length(let length):
            let most = head.isWaitingToSend ? limits.bodyBytes : limits.discardedBytes
            guard length <= UInt64(clamping: most) else { return refuse(.bodyTooLarge) }
            bodyLeft = length
            body.reserveCapacity(Int(clamping: min(length, UInt64(clamping: limits.bodyBytes))))
        case .chunked:
            chunks = ChunkedBody(mostBytes: limits.discardedBytes, mostTrailerBytes: limits.headerBytes)
        }
        enter(.body)
        stage = .body
        if head.isWaitingToSend, inputStart == input.count {
            output += "HTTP/1.1 100 Continue\r\n\r\n".utf8
            if case .close = flush() { return .close }
        }
        return .goOn
    }

    private func readBody() -> Progress {
        if exchange?.isAnswered == true { return refuse(loop.daemon.open.isClosed ? .stopping : .bodyOverdue) }
        do {
            guard try takeBody() else { return moved < Self.mostBytesInTurn ? receive() : .goOn }
        } catch {
            return refuse(error)
        }
        chunks = nil
        guard received <= limits.bodyBytes else { return refuse(.bodyTooLarge) }
        return startAnswer()
    }

    /// Takes the part of the body that has arrived, as far as the turn allows.
    /// - Returns: whether that is all of it.
    private func takeBody() throws(HTTPRefusal) -> Bool {
        guard chunks != nil else {
            let count = Int(clamping: min(bodyLeft, UInt64(input.count - inputStart)))
            try take(inputStart..<(inputStart + count))
            bodyLeft -= UInt64(count)
            use(count)
            return bodyLeft == 0
        }
        while moved < Self.mostBytesInTurn {
            var used = inputStart
            let result = input.withUnsafeBytes { bytes in
                Result { () throws(HTTPRefusal) in try chunks?.next(in: bytes, &used) ?? .end }
            }
            switch try result.get() {
            case .piece(let range):
                try take(range)
                moved += Self.bytesOfChunk
            case .end:
                use(used - inputStart)
                return true
            case .more:
                use(used - inputStart)
                return false
            }
            inputStart = used
        }
        return false
    }

    private func take(_ range: Range<Int>) throws(HTTPRefusal) {
        received += range.count
        if received <= limits.bodyBytes { body.append(contentsOf: input[range]) }
        // A body in chunks may be endless.
        if received > limits.discardedBytes { throw .bodyTooLarge }
    }

    private func startAnswer() -> Progress {
        guard let head, let exchange else { return .close }
        let request = HTTPRequest(
            method: head.method, target: head.target, headers: head.headers, body: body, remoteAddress: addressText)
        guard limits.takesDoubtfulPaths || !request.hasDoubtfulPath else { return refuse(.path) }
        stage = .answer
        enter(.answer)
        exchange.start(request)
        body = Data()
        return takeAnswer()
    }

    private func takeAnswer() -> Progress {
        switch exchange?.answerOrWait() {
        case nil: .wait
        case .success(let answer): send(answer)
        case .failure(let refusal): send(loop.daemon.response(refusal, to: head?.request))
        }
    }

    /// Counts bytes of the input as read.
    private func use(_ count: Int) {
        inputStart += count
        guard inputStart == input.count else { return }
        (input, inputStart) = ([], 0)
    }

    /// Reads the socket's available bytes.
    private func receive() -> Progress {
        guard canRead else { return .wait }
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        let buffer = loop.buffer
        let count: Int
        if let tls {
            switch tls.receive(buffer) {
            case .done(let received): count = received
            case .later:
                canRead = false
                return .wait
            case .ended, .failed: return .close
            }
        } else {
            count = latchkey_receive(socket, buffer.baseAddress, buffer.count)
            guard count != 0 else { return .close }
            guard count > 0 else {
                guard errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR else { return .close }
                canRead = errno == EINTR
                return canRead ? .goOn : .wait
            }
            // Later bytes are reported again, and so is the end.
            if count < buffer.count, !hasPeerEnded { canRead = false }
        }
        input.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        moved += count
        if stage == .body { progress() }
        if phase == .idle { enter(.head) }
        return .goOn
    }

    /// Discards input after the reply, so that the client can read it: with unread bytes the connection would end in a reset.
    private func discard() -> Progress {
        let count = latchkey_receive(socket, loop.buffer.baseAddress, loop.buffer.count)
        guard count != 0 else { return .close }
        guard count > 0 else { return errno == EAGAIN || errno == EWOULDBLOCK ? .wait : .close }
        moved += count
        received += count
        return received <= Self.mostDiscarded ? .goOn : .close
    }
}

extension HTTPServerConfiguration {
    /// Bytes of a body that are read and discarded, so that the client sees the refusal.
    fileprivate var discardedBytes: Int {
        let (bytes, isTooMuch) = max(0, bodyBytes).multipliedReportingOverflow(by: 64)
        return isTooMuch ? .max : bytes
    }
}
