import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notes how far servers' clocks are from this machine's, by the dates of their replies.
final class ClockWatch: Transport {
    private let base: any Transport
    private let timekeeper: any Timekeeper
    private let offsets = Locked<[String: Double]>([:])

    init(_ base: any Transport = URLSessionTransport(), timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.base = base
        self.timekeeper = timekeeper
    }

    /// How far each host's clock is ahead, in seconds, and by no more than it takes a reply to come off the truth.
    var aheadByHost: [String: Double] { offsets.withLock { $0 } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let reply = try await base.send(request, bodyLimit: bodyLimit)
        if let date = reply.date, let host = request.url?.host {
            offsets.withLock { $0[host] = date.timeIntervalSince(timekeeper.date) }
        }
        return reply
    }

    func warm(_ origin: URL) async throws -> Bool { try await base.warm(origin) }
}
