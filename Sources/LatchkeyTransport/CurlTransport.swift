#if os(Linux)
    public import Foundation
    public import FoundationNetworking
    public import LatchkeyCore

    /// The transport over libcurl, the default on Linux: HTTP/2 where there is one, connections kept warm between requests.
    ///
    /// It follows no redirect, keeps no cookie and caches nothing. A request's `timeoutInterval` is the longest time until the reply's
    /// head is there and the longest pause in its body; no exchange takes more than ten minutes, no head more than 128 KiB or 1,000
    /// fields. Whatever a server sends, there is a reply or an error.
    public final class CurlTransport: Transport {
        private let client: CurlClient

        /// - Parameters:
        ///   - connectionsPerHost: how many connections a host gets at most. Defaults to 6.
        ///   - authorities: a file of certificate authorities in PEM that are trusted beside the system's. The variables
        ///     `SSL_CERT_FILE` and `SSL_CERT_DIR` take the place of the system's own.
        public init(connectionsPerHost: Int = 6, authorities: URL? = nil) {
            client = CurlClient(
                CurlConfiguration(connectionsPerHost: connectionsPerHost, authorities: authorities))
        }

        public func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
            let reply = try await client.send(request, bodyLimit: bodyLimit)
            return HTTPReply(url: reply.url, status: reply.status, headers: reply.headers, body: reply.body)
        }

        /// Asks for the server's root by HEAD, whatever the answer, and so leaves a connection that the next request takes.
        public func warm(_ origin: URL) async throws -> Bool { try await warmed(origin) }
    }
#endif
