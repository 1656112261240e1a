package import LatchkeyCore
package import LatchkeyTransport
import LatchkeyVendors

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#else
    package import Foundation
#endif

/// A transport that takes the purpose of each request.
package protocol StagedTransport: Transport {
    /// - Parameters:
    ///   - request: the request.
    ///   - bodyLimit: the largest body of the reply, in bytes.
    ///   - stage: the purpose of the request.
    ///   - number: the number of the key request; 0 for none.
    func send(
        _ request: URLRequest, bodyLimit: Int, serving stage: ContentKeyError.Stage, of number: Int
    ) async throws -> HTTPReply
}

extension Transport {
    /// Sends a request, and passes its purpose to a transport that takes it.
    func sent(
        _ request: URLRequest, bodyLimit: Int, serving stage: ContentKeyError.Stage, of number: Int
    ) async throws -> HTTPReply {
        guard let staged = self as? any StagedTransport else { return try await send(request, bodyLimit: bodyLimit) }
        return try await staged.send(request, bodyLimit: bodyLimit, serving: stage, of: number)
    }
}
