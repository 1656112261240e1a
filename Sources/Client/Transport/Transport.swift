public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries one HTTP request to a server and its reply back.
///
/// The loader keeps to itself what is policy: hosts, redirects, retries, deadlines. A transport follows no redirect, keeps no
/// cookie and caches nothing. Called from any isolation, many times at once.
public protocol Transport: Sendable {
    /// Sends a request.
    /// - Parameters:
    ///   - request: what to send, complete.
    ///   - bodyLimit: how many bytes of the reply's body are taken at most.
    /// - Returns: the reply, whatever its status; a redirect as it came.
    /// - Throws: `TransportError`, or `CancellationError` when the task is cancelled.
    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply

    /// Opens a connection to a server ahead of the first request, and keeps it for that. Sends no credentials.
    /// - Parameter origin: an URL of the server; only scheme, host and port count.
    /// - Returns: whether the transport can; one that says nothing of it cannot.
    /// - Throws: as `send`.
    func warm(_ origin: URL) async throws -> Bool
}

extension Transport {
    public func warm(_ origin: URL) async throws -> Bool { false }
}

/// Why no reply came.
public struct TransportError: DiagnosableError {
    /// The kinds of error; raw values are the stable codes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No reply in time.
        case timedOut
        /// The host's name is unknown.
        case hostNotFound
        /// No connection: refused, unreachable, offline.
        case cannotConnect
        /// The connection ended before the reply did.
        case connectionLost
        /// No secure connection: certificate, protocol.
        case tlsFailed
        /// The reply's body is larger than the limit.
        case bodyTooLarge
        /// Anything else.
        case transportFailed
    }

    /// The kind of error.
    public let kind: Kind
    public let reason: String

    /// Makes an error.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    public var code: String { kind.rawValue }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
        switch kind {
        case .timedOut, .hostNotFound, .cannotConnect, .connectionLost, .transportFailed: true
        case .tlsFailed, .bodyTooLarge: false
        }
    }

    public var remedy: String {
        switch kind {
        case .timedOut, .cannotConnect, .connectionLost, .transportFailed:
            "Check the network and the service, and try again."
        case .hostNotFound: "Check the host's name in the settings, and the network."
        case .tlsFailed: "Check the server's TLS certificate and the device's date."
        case .bodyTooLarge: "Check that the URL is that of the license service, or raise the body limit."
        }
    }
}
