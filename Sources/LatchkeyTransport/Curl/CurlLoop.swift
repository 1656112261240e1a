import CCurl
import Foundation
import LatchkeyCore

/// The thread that carries all exchanges of one client. It sleeps when idle.
// Sound because `inbox` is behind its lock, and only the loop's thread touches everything else.
final class CurlLoop: @unchecked Sendable {
    private struct Inbox {
        var begun: [CurlTransfer] = []
        var givenUp: [CurlTransfer] = []
        var isStopping = false
        var turns = 0
        /// The handle that wakes the thread; `nil` before the thread starts and after it ends.
        var multi: UnsafeMutableRawPointer?
    }

    private let inbox = Locked(Inbox())
    private let hasEnded = DispatchSemaphore(value: 0)
    private let configuration: CurlConfiguration
    private var open: [UnsafeMutableRawPointer: CurlTransfer] = [:]

    /// How long the thread sleeps without a deadline. Each request wakes it.
    private static let longestSleep = Duration.seconds(3_600)
    /// The loops whose threads run.
    private static let running = Locked<[ObjectIdentifier: CurlLoop]>([:])
    private static let isReady: Bool = {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { return false }
        // Called before OpenSSL's handler, which libcurl has already registered and which frees resources that the threads use.
        atexit { CurlLoop.endAll() }
        return true
    }()

    static var isAnyRunning: Bool { !running.withLock { $0.isEmpty } }

    /// Ends all threads and waits at most a second for them: libcurl may wait for a name server.
    private static func endAll() {
        let loops = running.withLock { Array($0.values) }
        let deadline = DispatchTime.now() + .seconds(1)
        for loop in loops { loop.stop() }
        for loop in loops { _ = loop.hasEnded.wait(timeout: deadline) }
    }

    var turns: Int { inbox.withLock { $0.turns } }

    init(_ configuration: CurlConfiguration) { self.configuration = configuration }

    /// Begins an exchange. The first exchange starts the thread.
    func begin(_ transfer: CurlTransfer) {
        let isBegun = inbox.withLock { inbox in
            guard !inbox.isStopping, inbox.multi != nil || start(&inbox) else { return false }
            inbox.begun.append(transfer)
            curl_multi_wakeup(inbox.multi)
            return true
        }
        if !isBegun { transfer.end(.failure(TransportError(.transportFailed, "libcurl does not start."))) }
    }

    /// Ends an abandoned exchange and closes its connection.
    func giveUp(_ transfer: CurlTransfer) {
        transfer.end(.failure(CancellationError()))
        inbox.withLock { inbox in
            inbox.givenUp.append(transfer)
            if let multi = inbox.multi { curl_multi_wakeup(multi) }
        }
    }

    /// Ends the thread and all open exchanges.
    func stop() {
        inbox.withLock { inbox in
            inbox.isStopping = true
            if let multi = inbox.multi { curl_multi_wakeup(multi) }
        }
    }

    private func start(_ inbox: inout Inbox) -> Bool {
        guard Self.isReady, let multi = curl_multi_init() else { return false }
        latchkey_curl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.connectionsPerHost))
        inbox.multi = multi
        Self.running.withLock { $0[ObjectIdentifier(self)] = self }
        let handle = MultiHandle(pointer: multi)
        let thread = Thread { self.run(handle.pointer) }
        thread.name = "latchkey-curl"
        thread.start()
        return true
    }

    // Sound because other threads only call libcurl's wake-up function, and they do so under the lock of `inbox`.
    private struct MultiHandle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }
}

// MARK: - The thread

extension CurlLoop {
    private func run(_ multi: UnsafeMutableRawPointer) {
        // Signals are for the program's own threads. Without this, a broken connection would end the process by SIGPIPE.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        while takeTurn(multi) {}
        for transfer in open.values {
            remove(transfer, from: multi)
            transfer.end(.failure(CancellationError()))
        }
        inbox.withLock { $0.multi = nil }
        curl_multi_cleanup(multi)
        Self.running.withLock { $0[ObjectIdentifier(self)] = nil }
        hasEnded.signal()
    }

    /// - Returns: whether there is another turn.
    private func takeTurn(_ multi: UnsafeMutableRawPointer) -> Bool {
        let work = inbox.withLock { inbox in
            defer { (inbox.begun, inbox.givenUp) = ([], []) }
            inbox.turns &+= 1
            return Work(begun: inbox.begun, givenUp: inbox.givenUp, isStopping: inbox.isStopping)
        }
        for transfer in work.begun where !transfer.isEnded { add(transfer, to: multi) }
        for transfer in work.givenUp { remove(transfer, from: multi) }
        guard !work.isStopping else { return false }
        var running: Int32 = 0
        var isSound = curl_multi_perform(multi, &running) == CURLM_OK
        collect(from: multi)
        let sleep = expireLate(in: multi)
        isSound = curl_multi_poll(multi, nil, 0, sleep.wholeMilliseconds, nil) == CURLM_OK && isSound
        if !isSound { failAll(in: multi) }
        return true
    }

    private struct Work: Sendable {
        let begun: [CurlTransfer]
        let givenUp: [CurlTransfer]
        let isStopping: Bool
    }

    private func add(_ transfer: CurlTransfer, to multi: UnsafeMutableRawPointer) {
        do throws(TransportError) {
            let easy = try transfer.begin()
            guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
                transfer.discard()
                throw TransportError(.transportFailed, "libcurl does not take the request.")
            }
            open[easy] = transfer
        } catch {
            transfer.end(.failure(error))
        }
    }

    private func remove(_ transfer: CurlTransfer, from multi: UnsafeMutableRawPointer) {
        guard let easy = transfer.handle?.easy, open.removeValue(forKey: easy) != nil else { return }
        curl_multi_remove_handle(multi, easy)
        transfer.discard()
    }

    /// Ends the exchanges that libcurl has finished.
    private func collect(from multi: UnsafeMutableRawPointer) {
        var left: Int32 = 0
        while let news = curl_multi_info_read(multi, &left) {
            guard news.pointee.msg == CURLMSG_DONE, let easy = news.pointee.easy_handle,
                let transfer = open[easy]
            else { continue }
            transfer.complete(news.pointee.data.result)
            remove(transfer, from: multi)
        }
    }

    /// Ends the exchanges whose time is over.
    /// - Returns: the maximum time to sleep.
    private func expireLate(in multi: UnsafeMutableRawPointer) -> Duration {
        let now = ContinuousClock.now
        var sleep = Self.longestSleep
        for transfer in open.values {
            if let patience = transfer.patience(at: now) {
                sleep = min(sleep, patience)
            } else {
                transfer.expire()
                remove(transfer, from: multi)
            }
        }
        return sleep
    }

    /// Ends all exchanges after a failure of libcurl itself, such as lack of memory, because they might never end otherwise.
    private func failAll(in multi: UnsafeMutableRawPointer) {
        for transfer in open.values {
            transfer.end(.failure(TransportError(.transportFailed, "libcurl failed.")))
            remove(transfer, from: multi)
        }
        Thread.sleep(forTimeInterval: 0.1)
    }
}
