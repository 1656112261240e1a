#if os(Linux)
    public import Foundation
    public import FoundationNetworking
    public import LatchkeyCore

    /// The transport over libcurl, the default on Linux: HTTP/2 if the server supports it, persistent connections.
    ///
    /// It follows no redirect, keeps no cookie and caches nothing. A request's `timeoutInterval` limits the time until the
    /// reply's head is complete, and each pause in its body; no exchange takes more than ten minutes, no head more than 128
    /// KiB or 1,000 fields. Every exchange ends with a reply or an error.
    public final class CurlTransport: Transport {
        private let client: CurlClient

        /// - Parameters:
        ///   - connectionsPerHost: the maximum number of connections to a host. Defaults to 6.
        ///   - authorities: a PEM file of certificate authorities that are trusted in addition to the system's. The variables
        ///     `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's own.
        public init(connectionsPerHost: Int = 6, authorities: URL? = nil) {
            client = CurlClient(
                CurlConfiguration(connectionsPerHost: connectionsPerHost, authorities: authorities))
        }

        public func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
            let reply = try await client.send(request, bodyLimit: bodyLimit)
            return HTTPReply(url: reply.url, status: reply.status, headers: reply.headers, body: reply.body)
        }

        /// Sends a HEAD request for the server's root, with any reply accepted, which leaves a connection for the next request.
        public func warm(_ origin: URL) async throws -> Bool { try await warmed(origin) }
    }
#endif
