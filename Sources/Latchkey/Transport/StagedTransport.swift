package import LatchkeyCore
package import LatchkeyTransport
import LatchkeyVendors

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#else
    package import Foundation
#endif

/// A transport that wants to know what a request is for.
package protocol StagedTransport: Transport {
    /// - Parameters:
    ///   - request: the request.
    ///   - bodyLimit: the largest body of the reply, in bytes.
    ///   - stage: what the request serves.
    ///   - number: the number of the key request; 0 for none.
    func send(
        _ request: URLRequest, bodyLimit: Int, serving stage: ContentKeyError.Stage, of number: Int
    ) async throws -> HTTPReply
}

extension Transport {
    /// Sends a request, and tells a transport that wants to know what it is for.
    func sent(
        _ request: URLRequest, bodyLimit: Int, serving stage: ContentKeyError.Stage, of number: Int
    ) async throws -> HTTPReply {
        guard let staged = self as? any StagedTransport else { return try await send(request, bodyLimit: bodyLimit) }
        return try await staged.send(request, bodyLimit: bodyLimit, serving: stage, of: number)
    }
}
