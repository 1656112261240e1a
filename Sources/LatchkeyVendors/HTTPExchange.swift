public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A request and its reply, for an integration's response hooks.
@_spi(Integrations) @_spi(Adapters) public struct HTTPExchange: Sendable {
    /// The request.
    public var request: URLRequest
    /// The reply.
    public var reply: HTTPReply

    /// Pairs a request with its reply.
    public init(request: URLRequest, reply: HTTPReply) {
        self.request = request
        self.reply = reply
    }
}
