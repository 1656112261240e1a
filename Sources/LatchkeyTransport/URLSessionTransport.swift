public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The transport over `URLSession`: HTTP/2 if the server supports it, persistent connections.
///
/// Its session is ephemeral: no cookies, no cache, nothing on disk.
///
/// Not for Linux, where `CurlTransport` is the default: there, FoundationNetworking ends the process if a server closes the
/// connection inside the reply's head (swift-corelibs-foundation #5285), and reads endless bodies. It also ends the process if
/// a task is cancelled while a redirect is reported, or together with its session. So tasks are cancelled between the
/// session's callbacks, and the session is left to finish its tasks.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let exchanges = ExchangeTable()

    /// - Parameter connectionsPerHost: the maximum number of connections to a host. Defaults to 6.
    public init(connectionsPerHost: Int = 6) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    /// Each exchange retains the transport, so any exchange still open here was cancelled.
    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task.taskIdentifier, limit: bodyLimit, continuation)
                if Task.isCancelled {
                    exchanges.end(task.taskIdentifier, .failure(CancellationError()))
                } else {
                    task.resume()
                }
            }
        } onCancel: {
            // Answered here, because the session reports nothing for a task that was cancelled before it began.
            exchanges.end(task.taskIdentifier, .failure(CancellationError()))
            session.cancelLater(task)
        }
    }

    /// Sends a HEAD request for the server's root, with any reply accepted: `URLSession` has no other way to open a connection.
    public func warm(_ origin: URL) async throws -> Bool { try await warmed(origin) }
}

/// The open exchanges, by task. Receives the session's callbacks.
// Sound because all mutable state is in `open`, behind its lock; only `NSObject` prevents the compiler from seeing it.
private final class ExchangeTable: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Exchange {
        let limit: Int
        let continuation: CheckedContinuation<HTTPReply, any Error>
        var response: HTTPURLResponse?
        var body = Data()

        var isTooLarge: TransportError { TransportError(.bodyTooLarge, "The reply is larger than \(limit) bytes.") }
    }

    private let open = Locked<[Int: Exchange]>([:])

    func begin(_ task: Int, limit: Int, _ continuation: CheckedContinuation<HTTPReply, any Error>) {
        open.withLock { $0[task] = Exchange(limit: limit, continuation: continuation) }
    }

    func end(_ task: Int, _ result: Result<HTTPReply, any Error>) {
        open.withLock { $0.removeValue(forKey: task) }?.continuation.resume(with: result)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        open.withLock { $0[task.taskIdentifier]?.response = response }
        #if canImport(FoundationNetworking)
            // A task cancelled in the meantime expects no answer, and treats one as an error.
            guard task.state == .running else { return }
        #endif
        completionHandler(nil)
    }

    /// The connection was lost during a POST. The loader decides whether to send it again, because a token may be valid for one request
    /// only. Foundation on Linux offers to resend, and after a refusal reports nothing until the request times out.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let exchange = open.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.continuation.resume(
            throwing: TransportError(.connectionLost, "The connection ended before the reply did."))
        completionHandler(nil)
        session.cancelLater(task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let limit = open.withLock { open in
            open[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse
            return open[dataTask.taskIdentifier]?.limit ?? 0
        }
        let isTooLarge = response.expectedContentLength > Int64(limit)
        if isTooLarge { refuse(dataTask) }
        completionHandler(isTooLarge ? .cancel : .allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = open.withLock { open in
            guard let exchange = open[dataTask.taskIdentifier] else { return false }
            guard exchange.body.count + data.count <= exchange.limit else { return true }
            open[dataTask.taskIdentifier]?.body.append(data)
            return false
        }
        if isTooLarge { refuse(dataTask) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = open.withLock({ $0[task.taskIdentifier] }) else { return }
        let response = exchange.response ?? task.response as? HTTPURLResponse
        if let response, error == nil || (300..<400).contains(response.statusCode) {
            end(task.taskIdentifier, .success(HTTPReply(response, body: exchange.body)))
        } else {
            end(task.taskIdentifier, .failure(URLSessionTransport.translated(error, hasBegun: response != nil)))
        }
    }

    private func refuse(_ task: URLSessionTask) {
        guard let exchange = open.withLock({ $0[task.taskIdentifier] }) else { return }
        end(task.taskIdentifier, .failure(exchange.isTooLarge))
        task.cancel()
    }
}

extension URLSessionTransport {
    /// Keeps the number of a platform error, and drops its text, which contains the URL with its token.
    package static func translated(_ error: (any Error)?, hasBegun: Bool) -> any Error {
        guard let error = error as? URLError else {
            return TransportError(.transportFailed, "The connection gave no HTTP reply.")
        }
        let number = error.code.rawValue
        return switch error.code {
        case .cancelled: CancellationError()
        case .timedOut: TransportError(.timedOut, "The server did not answer in time (\(number)).")
        case .cannotFindHost, .dnsLookupFailed: TransportError(.hostNotFound, "The host is unknown (\(number)).")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            TransportError(.offline, "The device has no network that it may use (\(number)).")
        case .cannotConnectToHost:
            TransportError(.cannotConnect, "There is no connection to the server (\(number)).")
        // Linux reports a truncated body like this.
        case .unknown where hasBegun:
            TransportError(.connectionLost, "The connection ended before the reply did (\(number)).")
        case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .zeroByteResource:
            TransportError(.connectionLost, "The connection ended before the reply did (\(number)).")
        // Apple's systems report one number for an unknown authority and for a host name mismatch.
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            TransportError(
                .serverCertificateUntrusted,
                "The server's TLS certificate is not from a trusted authority, or is for another host name (\(number))."
            )
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            TransportError(
                .serverCertificateExpired, "The server's TLS certificate has expired or is not valid yet (\(number)).")
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            TransportError(.tlsFailed, "No secure connection could be made (\(number)).")
        // Foundation on Linux has no code for it, only libcurl's text.
        case .unknown where ["SSL", "TLS", "certificate"].contains(where: error.localizedDescription.contains):
            TransportError(.tlsFailed, "No secure connection could be made (\(number)).")
        default: TransportError(.transportFailed, "The exchange failed (\(number)).")
        }
    }
}

extension URLSession {
    /// Cancels a task on the session's callback queue: after pending callbacks and before later ones.
    ///
    /// Cancelling waits for a queue of the session. Some callbacks run on that queue, and it may wait for the lock under which
    /// a Swift task's cancellation handler runs.
    fileprivate func cancelLater(_ task: URLSessionTask) { delegateQueue.addOperation { task.cancel() } }
}

extension HTTPReply {
    init(_ response: HTTPURLResponse, body: Data) {
        let headers = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { (name: $0, value: String(describing: value)) }
        }
        // Sorted, because on Linux a field in two spellings arrives in the random order of a dictionary.
        self.init(
            url: response.url, status: response.statusCode, headers: headers.sorted { $0.name < $1.name }, body: body)
    }
}
