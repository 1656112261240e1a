import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers requests with recorded exchanges, in their order and with their timing, without a network.
///
/// An exchange belongs to a stage of a key; addresses cannot identify it, because they contained secrets.
final class ReplayTransport: StagedTransport {
    private let left: Locked<[RecordedExchange]>
    /// The recorded numbers of key requests, in the order in which they are repeated.
    private let numbers: [Int]
    /// Whether the last request had no reply yet at the time of the capture.
    private let endsWaiting: Bool
    private let timekeeper: any Timekeeper

    init(_ exchanges: [RecordedExchange], numbers: [Int], endsWaiting: Bool, _ timekeeper: any Timekeeper) {
        left = Locked(exchanges)
        (self.numbers, self.endsWaiting, self.timekeeper) = (numbers, endsWaiting, timekeeper)
    }

    /// The longest wait: a day.
    private static let longest = Duration.seconds(86_400)

    /// A request that no loader makes is for a playlist.
    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await send(request, bodyLimit: bodyLimit, serving: .playlist, of: 0)
    }

    func send(
        _ request: URLRequest, bodyLimit: Int, serving stage: ContentKeyError.Stage, of number: Int
    ) async throws -> HTTPReply {
        guard let exchange = next(stage, number) else {
            if endsWaiting { try await timekeeper.sleep(for: Self.longest) }
            throw TransportError(.transportFailed, "The bundle has no further exchange at this stage.")
        }
        let isUnended = exchange.code == Diagnosis.Kind.cancelled.rawValue
        // Bounded, as an external time may have any value.
        let time = exchange.milliseconds.isFinite ? min(max(exchange.milliseconds, 0), Self.longest.inMilliseconds) : 0
        try await timekeeper.sleep(for: isUnended ? Self.longest : .milliseconds(time))
        guard var reply = exchange.reply else { throw Self.error(exchange.code) }
        guard reply.body.count <= bodyLimit else { throw TransportError(.bodyTooLarge, "The reply is too large.") }
        reply.url = request.url
        return reply
    }

    /// The key's own exchange, or else any of the stage, as a certificate and a session serve several keys.
    private func next(_ stage: ContentKeyError.Stage, _ number: Int) -> RecordedExchange? {
        let recorded = numbers.indices.contains(number - 1) ? numbers[number - 1] : 0
        return left.withLock { left in
            let ofStage = left.indices.filter { left[$0].stage == stage.rawValue }
            let index = ofStage.first { left[$0].number == recorded } ?? ofStage.first
            return index.map { left.remove(at: $0) }
        }
    }

    private static func error(_ code: String?) -> any Error {
        let kind = Diagnosis.Kind(rawValue: code ?? "")
        // An app's own transport may use a code outside the catalogue.
        guard (300..<400).contains(kind.number) else {
            return TransportError(.transportFailed, "No reply came when this was captured.")
        }
        return TransportError(kind, "No reply came when this was captured: \(kind.meaning)")
    }
}
