import Foundation
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One of the transports of this system, which behave alike.
struct TransportUnderTest: Transport, CustomTestStringConvertible {
    let testDescription: String
    private let base: any Transport

    /// Each of them, made anew.
    static var all: [Self] {
        let urlSession = Self(testDescription: "URLSession", base: URLSessionTransport())
        #if os(Linux)
            return [Self(testDescription: "libcurl", base: CurlTransport()), urlSession]
        #else
            return [urlSession]
        #endif
    }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await base.send(request, bodyLimit: bodyLimit)
    }

    func warm(_ origin: URL) async throws -> Bool { try await base.warm(origin) }
}

extension Transport {
    func send(_ request: URLRequest) async throws -> HTTPReply { try await send(request, bodyLimit: 1 << 20) }

    /// Why a request is not answered.
    func failure(_ request: URLRequest, limit: Int = 1 << 20) async -> TransportError? {
        await #expect(throws: TransportError.self) { try await send(request, bodyLimit: limit) }
    }
}
