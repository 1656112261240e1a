package import Foundation
import LatchkeyCore
import LatchkeyVendors

/// An event as one flat JSON object.
///
///     {"date": "2026-01-01T00:00:00.000Z", "event": "retrying", "exchange": 3, "key": "skd://host/movie",
///      "attempt": 1, "milliseconds": 500, "code": "serverTransient"}
///
/// `date` (ISO 8601, to the millisecond), `event` (the case's name), `exchange` and `key` are always present. The others are present if the
/// event has them: `asset` (the app's name for the title), `purpose`, `stage`, `part`, `parts`, `milliseconds` (how long it took, how much
/// it saved, or how long until it happens), `leaseMilliseconds`, `attempt`, `code`, `http`, `url`, `credentialsDropped`, `advice` (a list
/// of `code`, `reason` and `date`), `format`, `warning`, `state`, `error` (a `ContentKeyError`) and `storeError` (an `OfflineError`).
extension KeyEvent: Codable {
    /// The format of a date.
    package static let dates = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    public init(from decoder: any Decoder) throws {
        let record = try KeyEventRecord(from: decoder)
        guard let date = try? Date(record.date, strategy: Self.dates) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The date is not of ISO 8601."))
        }
        guard let kind = Kind(record) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "The event \"\(record.event.prefix(40))\" is unknown, or lacks a member."))
        }
        self.init(exchange: record.exchange, key: record.key, asset: record.asset, date: date, kind: kind)
    }

    public func encode(to encoder: any Encoder) throws { try KeyEventRecord(self).encode(to: encoder) }
}

/// The members of an event's JSON.
struct KeyEventRecord: Codable {
    let date: String
    let exchange: Int
    let key: String
    let event: String
    var asset: AssetID?
    var purpose: KeyPurpose?
    var stage: ContentKeyError.Stage?
    var part: PreloadResult.Part?
    var parts: [PreloadResult.Part]?
    var milliseconds: Double?
    var leaseMilliseconds: Double?
    var attempt: Int?
    var code: String?
    var http: KeyEvent.HTTPSummary?
    var url: String?
    var credentialsDropped: Bool?
    var advice: [Advice]?
    var format: String?
    var warning: ReplyWarning?
    var state: SessionState?
    var error: ContentKeyError?
    var storeError: OfflineError?

    struct Advice: Codable {
        let code: String
        var reason: String?
        /// Seconds since 1970.
        var date: Double?
    }

    init(_ event: KeyEvent) {
        date = event.date.formatted(KeyEvent.dates)
        exchange = event.exchange
        (key, asset) = (event.keyText, event.asset)
        self.event = event.kind.name
        take(event.kind)
    }

    /// `milliseconds` as a duration; `nil` if no event can have it.
    var duration: Duration? { Self.duration(milliseconds) }

    /// `leaseMilliseconds`, likewise.
    var lease: Duration? { Self.duration(leaseMilliseconds) }

    /// A duration from an external number, which may be anything: up to 1,000 years.
    private static func duration(_ milliseconds: Double?) -> Duration? {
        guard let milliseconds, milliseconds.isFinite, milliseconds.magnitude < 3.2e13 else { return nil }
        return .milliseconds(milliseconds)
    }
}

extension KeyEventRecord {
    private mutating func take(_ kind: KeyEvent.Kind) {
        switch kind {
        case .requested(let purpose): self.purpose = purpose
        case .stageEnded(let stage, let took): (self.stage, milliseconds) = (stage, took.inMilliseconds)
        case .certificateFromCache(let time), .answered(let time), .heldBySystem(let time):
            milliseconds = time.inMilliseconds
        case .prepared(let part, let saved): (self.part, milliseconds) = (part, saved.inMilliseconds)
        case .preloaded(let parts): self.parts = parts
        case .tokenAdvice(let advice): self.advice = advice.map(Advice.init)
        case .certificateUnrecognized(let format): self.format = format
        case .replyWarning(let warning): self.warning = warning
        case .exchanged(let http): self.http = http
        case .unanswered(let http, let code): (self.http, self.code) = (http, code)
        case .redirected(let url, let isDropped): (self.url, credentialsDropped) = (url, isDropped)
        case .retrying(let attempt, let wait, let code):
            (self.attempt, milliseconds, self.code) = (attempt, wait.inMilliseconds, code)
        case .session(let state): self.state = state
        case .sessionFailed(let error), .ended(let error): self.error = error
        case .failed(let error, let took): (self.error, milliseconds) = (error, took.inMilliseconds)
        case .renewalPlanned(let wait, let lease):
            (milliseconds, leaseMilliseconds) = (wait.inMilliseconds, lease?.inMilliseconds)
        case .renewalFailed(let code, let next): (self.code, milliseconds) = (code, next?.inMilliseconds)
        case .storeFailed(let error): storeError = error
        case .renewalDue, .released, .evicted, .answeredFromStore, .keyStored, .storedKeyDropped, .storedKeyExpired:
            break
        }
    }
}
