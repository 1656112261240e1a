import Foundation
import LatchkeyCore
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends each request over its own connection.
///
/// For servers that are asked once in minutes, or after a person has typed a password: they have ended a kept connection by then, which a
/// request may find out only once it was sent, and one with a body is not sent again.
struct OneTimeTransport: Transport {
    /// Makes the transport of one request. Defaults to the system's.
    var transport: @Sendable () -> any Transport = { SystemTransport() }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await transport().send(request, bodyLimit: bodyLimit)
    }
}
