public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries one HTTP request to a server and its reply back.
///
/// The loader applies the policies: hosts, redirects, retries, deadlines. A transport follows no redirect, keeps no cookie and
/// caches nothing. Called concurrently from any isolation. A loader's default is `SystemTransport`.
public protocol Transport: Sendable {
    /// Sends a request.
    /// - Parameters:
    ///   - request: the complete request.
    ///   - bodyLimit: the maximum number of bytes of the reply's body.
    /// - Returns: the reply, whatever its status; a redirect unchanged.
    /// - Throws: `TransportError`, or `CancellationError` when the task is cancelled.
    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply

    /// Opens a connection to a server in advance, and keeps it for the first request. Sends no credentials.
    /// - Parameter origin: a URL of the server; only scheme, host and port are used.
    /// - Returns: whether the transport supports it. Default: `false`.
    /// - Throws: the errors of `send`.
    func warm(_ origin: URL) async throws -> Bool
}

extension Transport {
    public func warm(_ origin: URL) async throws -> Bool { false }
}

extension Transport {
    /// Opens a connection with a HEAD request for the server's root, with any reply accepted.
    func warmed(_ origin: URL) async throws -> Bool {
        guard let root = Origin(origin)?.url else { return false }
        var request = URLRequest(url: root)
        request.httpMethod = "HEAD"
        // A reply to HEAD has no body, but may state a length.
        _ = try await send(request, bodyLimit: .max)
        return true
    }
}
