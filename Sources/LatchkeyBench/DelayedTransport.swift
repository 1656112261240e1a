import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport with a round trip of a given length before each exchange. Connections are kept, so no handshakes count.
struct DelayedTransport: Transport {
    let roundTrip: Duration
    let transport: any Transport
    var timekeeper: any Timekeeper = SystemTimekeeper()

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await timekeeper.sleep(for: roundTrip)
        return try await transport.send(request, bodyLimit: bodyLimit)
    }

    func warm(_ origin: URL) async throws -> Bool {
        try await timekeeper.sleep(for: roundTrip)
        return try await transport.warm(origin)
    }
}
