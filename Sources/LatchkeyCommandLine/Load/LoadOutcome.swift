import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP

/// The outcome of a request.
enum LoadOutcome: String, Sendable, CaseIterable, Encodable {
    /// The server granted the request.
    case granted
    /// The server refused the viewer: a 4xx other than 429.
    case refused
    /// The server asked to try again later: a 429, or a 503 with `Retry-After`.
    case shed
    /// The server failed: any other 5xx, and statuses that no license server sends.
    case failed
    /// A license came that the device cannot open.
    case unreadable
    /// No reply came: no connection, a connection that ended, or a timeout.
    case noReply

    init(status: Int, asksToComeAgain: Bool) {
        self =
            switch status {
            case 200...299: .granted
            case 429: .shed
            case 503 where asksToComeAgain: .shed
            case 400...499: .refused
            default: .failed
            }
    }

    /// Whether another try may end differently.
    var isWorthRetrying: Bool { self == .shed || self == .failed || self == .noReply }
}

/// A simulated device's request.
enum LoadQuestion: String, Sendable, CaseIterable, Encodable {
    /// The license of a playback that begins.
    case start
    /// The license of a continuing playback.
    case renewal
    case heartbeat
    /// The same for another system's playback.
    case slot, slotRenewal, slotHeartbeat

    /// The corresponding question for another system's playback.
    var ofSlots: Self {
        switch self {
        case .start, .slot: .slot
        case .renewal, .slotRenewal: .slotRenewal
        case .heartbeat, .slotHeartbeat: .slotHeartbeat
        }
    }
}

/// The parts of a reply that count.
struct LoadReply: Sendable, Equatable {
    /// 0 if no reply came.
    var status: Int
    var body = Data()
    /// Seconds.
    var retryAfter: Int?
    /// When to renew, and how often to send a heartbeat, in seconds.
    var renewAfter: Int?
    var heartbeat: Int?
    var heartbeatToken: String?
    /// The request's name in the server's log.
    var requestID: String?
    /// Why no reply came.
    var cause: String?

    static func none(_ cause: String) -> Self { LoadReply(status: 0, cause: cause) }

    init(status: Int, body: Data = Data(), cause: String? = nil) {
        self.status = status
        self.body = body
        self.cause = cause
    }

    /// - Parameter field: the value of a header field by its name in lower case.
    init(status: Int, body: Data, field: @escaping (String) -> String?) {
        self.init(status: status, body: body)
        let number = { (name: String) in field(name).flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } }
        retryAfter = number("retry-after")
        renewAfter = number("x-latchkey-renew-after")
        heartbeat = number("x-latchkey-heartbeat")
        heartbeatToken = field("x-latchkey-heartbeat-token")
        requestID = field("x-request-id")
    }

    init(_ outcome: RequestLoop.Outcome) {
        switch outcome {
        case .success(let reply):
            guard let body = reply.bytes else {
                self = .none("the connection was reset")
                return
            }
            self.init(status: reply.status, body: body) { reply.headers[HTTPHeaderName($0)] }
        case .failure(let error): self = .none(error.reason)
        }
    }

    /// The same reply with the values in the body of a slot's answer.
    var ofSlot: Self {
        var reply = self
        guard status == 200, let slot = JSONValue(body) else { return reply }
        let number = { (name: String) in slot[name]?.number.map { Int(saturating: $0) } }
        (reply.renewAfter, reply.heartbeat) = (number("renewAfter"), number("heartbeat"))
        reply.heartbeatToken = slot["heartbeatToken"]?.text
        return reply
    }

    var outcome: LoadOutcome {
        status == 0 ? .noReply : LoadOutcome(status: status, asksToComeAgain: retryAfter != nil)
    }

    /// The status and the refusal's code, such as `409 concurrencyLimit`; the cause without a reply.
    var label: String {
        guard status > 0 else { return cause ?? "no reply" }
        if (200...299).contains(status) { return "\(status)" }
        let body = JSONValue(body.prefix(4_096))
        let code = (body?["code"] ?? body?["error"]?["code"])?.text
        return code.map { "\(status) \($0.prefix(40).description.onOneLine)" } ?? "\(status)"
    }
}
