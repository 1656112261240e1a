public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries one HTTP request to a server and its reply back.
///
/// The loader applies the policies: hosts, redirects, retries, deadlines. A transport follows no redirect, keeps no cookie and caches
/// nothing. Called from any isolation, many times at once. A loader's default is `SystemTransport`.
public protocol Transport: Sendable {
    /// Sends a request.
    /// - Parameters:
    ///   - request: what to send, complete.
    ///   - bodyLimit: how many bytes of the reply's body are taken at most.
    /// - Returns: the reply, whatever its status; a redirect as it came.
    /// - Throws: `TransportError`, or `CancellationError` when the task is cancelled.
    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply

    /// Opens a connection to a server before the first request, and keeps it for that. Sends no credentials.
    /// - Parameter origin: an URL of the server; only scheme, host and port count.
    /// - Returns: whether the transport can; Default: `false`.
    /// - Throws: as `send`.
    func warm(_ origin: URL) async throws -> Bool
}

extension Transport {
    public func warm(_ origin: URL) async throws -> Bool { false }
}

extension Transport {
    /// Opens a connection by asking for the server's root by HEAD, whatever the answer.
    func warmed(_ origin: URL) async throws -> Bool {
        guard let root = Origin(origin)?.url else { return false }
        var request = URLRequest(url: root)
        request.httpMethod = "HEAD"
        // A reply to HEAD has no body, but may state the length of one.
        _ = try await send(request, bodyLimit: .max)
        return true
    }
}
