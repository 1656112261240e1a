import Foundation
package import FoundationNetworking
import LatchkeyCore

/// An HTTP client over libcurl: HTTP/2 if the server supports it, persistent connections, any number of exchanges on one thread.
///
/// It follows no redirects, keeps no cookies, caches nothing and decompresses nothing. Whatever a server sends, an exchange ends with a
/// reply or an error within its time and its limits. Proxies come from the environment (`https_proxy`, `no_proxy`). Safe to use from any
/// number of tasks.
package final class CurlClient: Sendable {
    private let configuration: CurlConfiguration
    private let loop: CurlLoop

    /// Makes a client. Its thread starts with the first request and ends with the client.
    package init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
        loop = CurlLoop(configuration)
    }

    /// Each exchange retains the client, so any exchange still open here was cancelled.
    deinit { loop.stop() }

    /// The number of times that the thread has looked for work. Constant while idle. For tests.
    package var turns: Int { loop.turns }

    /// Sends a request.
    ///
    /// It never sends a body twice, even if a kept connection turns out to be closed: a token may be good for one request only.
    /// - Parameters:
    ///   - request: the request, with its body as data. Its `timeoutInterval` limits the time until the reply's head is complete,
    ///     and each pause in the body. Defaults to 60 seconds if it is not positive.
    ///   - bodyLimit: the maximum number of bytes of the reply's body.
    /// - Returns: the reply, whatever its status.
    /// - Throws: a `TransportError`, or a `CancellationError` if the task is cancelled.
    package func send(_ request: URLRequest, bodyLimit: Int) async throws -> CurlReply {
        try Task.checkCancellation()
        let message = try CurlMessage(request)
        let exchange = Locked(TransferState.notBegun)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let transfer = CurlTransfer(message, bodyLimit: bodyLimit, configuration) {
                    continuation.resume(with: $0)
                }
                let isCancelled = exchange.withLock { exchange in
                    if case .cancelled = exchange { return true }
                    exchange = .begun(transfer)
                    return false
                }
                if isCancelled { transfer.end(.failure(CancellationError())) } else { loop.begin(transfer) }
            }
        } onCancel: {
            let transfer = exchange.withLock { exchange in
                defer { exchange = .cancelled }
                return exchange.transfer
            }
            if let transfer { loop.giveUp(transfer) }
        }
    }

    /// Receives the reply, or a `TransportError` or a `CancellationError`.
    package typealias Answer = @Sendable (Result<CurlReply, any Error>) -> Void

    /// Sends a request without a task.
    /// - Parameter answer: receives the result. Called once, on the client's thread; it must not block.
    package func send(_ request: URLRequest, bodyLimit: Int, answer: @escaping Answer) {
        do throws(TransportError) {
            // The closure retains the client, which may have no other reference.
            loop.begin(
                CurlTransfer(try CurlMessage(request), bodyLimit: bodyLimit, configuration) { [self] in
                    withExtendedLifetime(self) {}
                    answer($0)
                })
        } catch {
            answer(.failure(error))
        }
    }

    private enum TransferState {
        case notBegun
        case begun(CurlTransfer)
        case cancelled

        var transfer: CurlTransfer? { if case .begun(let transfer) = self { transfer } else { nil } }
    }
}
