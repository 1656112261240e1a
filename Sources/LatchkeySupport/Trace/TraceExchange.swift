import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// The way of one key, or steps without a key, as spans.
struct TraceExchange: Sendable {
    /// The identity of the exchange.
    struct Identity: Hashable, Sendable {
        /// The loader's name if several are in one trace.
        let owner: String
        /// The number of the key request; 0 for none.
        let number: Int
        /// The key; empty for none.
        let key: String

        init(owner: String, number: Int, key: String) { (self.owner, self.number, self.key) = (owner, number, key) }

        init(_ entry: KeyTrace.Entry) {
            self.init(
                owner: TraceText.shown(entry.owner), number: entry.event.exchange,
                key: TraceText.shown(url: entry.event.keyText))
        }
    }

    let identity: Identity
    /// 32 hexadecimal digits in lower case.
    let traceID: String
    /// In the order of their starts; the whole way of the key first, if it ended.
    let spans: [TraceSpan]
    /// The outcome, in words.
    let outcome: String?

    var start: Date { spans.map(\.start).min() ?? .distantPast }
    var end: Date { spans.map(\.end).max() ?? .distantPast }
    /// From the first start to the end of the last step that took time: renewals, hours later, are not included.
    var length: Duration {
        let ends = spans.filter { $0.kind == .key || $0.length > .zero }.map(\.end)
        return .seconds((ends.max() ?? end).timeIntervalSince(start))
    }
    var requests: [TraceSpan] { spans.filter { $0.exchange != nil } }
}

extension TraceExchange {
    /// Makes spans from events, which state the end and the duration of steps.
    struct Builder {
        private let identity: Identity
        private let seed: UInt64
        private var spans: [TraceSpan] = []
        private var traceID: String?
        private var outcome: String?
        /// The current attempt of each stage's request.
        private var attempts: [ContentKeyError.Stage: Int] = [:]
        /// The stage of the last request, to which a retry belongs.
        private var stage: ContentKeyError.Stage?

        init(_ identity: Identity, seed: UInt64) { (self.identity, self.seed) = (identity, seed) }

        mutating func add(_ span: TraceSpan) { spans.append(span) }

        mutating func add(_ event: KeyEvent) {
            switch event.kind {
            case .requested(let purpose): attempts = purpose == .renewal ? [:] : attempts
            case .stageEnded(let stage, let took):
                append(.stage, Self.words(stage), stage, endingAt: event.date, took)
            case .certificateFromCache(let saved):
                note("certificate at hand, which saved \(saved.inWords)", event.date, at: .certificate)
            case .prepared(let part, let saved):
                note("\(part.rawValue) at hand, which saved \(saved.inWords)", event.date, at: .license)
            case .exchanged(let http): append(http, nil, event.date)
            case .unanswered(let http, let code): append(http, code, event.date)
            case .retrying(let attempt, let wait, let code):
                if let stage { attempts[stage] = attempt + 1 }
                guard wait > .zero else { break }
                var span = TraceSpan(.wait, "wait for the next attempt", from: event.date, for: wait)
                (span.stage, span.waitedFor) = (stage?.rawValue ?? "", "the next attempt, after \(code)")
                spans.append(span)
            case .renewalDue: note("renewal asked for", event.date)
            case .renewalFailed(let code, _): note("renewal failed", event.date, code)
            case .released: note("released", event.date)
            case .evicted: note("renewed no more, as newer keys took its place", event.date)
            case .answeredFromStore: note("answered from the store", event.date)
            case .session(let state): note("session \(state)", event.date)
            case .sessionFailed(let error): note("session failed", event.date, error.code)
            case .ended(let error): note("the key ended", event.date, error.code)
            case .answered(let took): finish("key in", event.date, took)
            case .heldBySystem(let took): finish("held by the system, found in", event.date, took)
            case .failed(let error, let took): finish("failed in", event.date, took, error)
            case .redirected, .preloaded, .tokenAdvice, .certificateUnrecognized, .replyWarning, .renewalPlanned,
                .keyStored,
                .storedKeyDropped, .storedKeyExpired, .storeFailed:
                break
            }
        }

        /// The exchange with identifiers for all of its spans.
        var exchange: TraceExchange {
            var identifiers = SeededGenerator(
                seed: seed ^ "\(identity.owner)\n\(identity.number)\n\(identity.key)".utf8.stableHash())
            let made = identifiers.bytes(16).hexString
            var spans = spans.sorted {
                ($0.start, $0.kind.rank, -$0.length.inSeconds) < ($1.start, $1.kind.rank, -$1.length.inSeconds)
            }
            for index in spans.indices where spans[index].spanID.isEmpty {
                spans[index].spanID = identifiers.bytes(8).hexString
            }
            let key = spans.first { $0.kind == .key }
            let stages = spans.filter { $0.kind == .stage }
            for index in spans.indices where spans[index].kind != .key {
                let span = spans[index]
                let stage = span.kind == .stage ? nil : stages.first { Self.holds($0, span) }
                spans[index].parentID = stage?.spanID ?? key.flatMap { Self.holds($0, span) ? $0.spanID : nil }
            }
            return TraceExchange(identity: identity, traceID: traceID ?? made, spans: spans, outcome: outcome)
        }
    }
}

extension TraceExchange.Builder {
    private mutating func append(
        _ kind: TraceSpan.Kind, _ name: String, _ stage: ContentKeyError.Stage, endingAt end: Date, _ took: Duration
    ) {
        var span = TraceSpan(kind, name, from: end.addingTimeInterval(-took.inSeconds), for: took)
        span.stage = stage.rawValue
        spans.append(span)
    }

    private mutating func append(_ http: KeyEvent.HTTPSummary, _ code: String?, _ end: Date) {
        stage = http.stage
        let took = Self.duration(http.milliseconds)
        let start = end.addingTimeInterval(-took.inSeconds)
        let (queued, prepared) = (Self.duration(http.queueMilliseconds), Self.duration(http.preparationMilliseconds))
        appendWait("credentials and request", prepared, endingAt: start.addingTimeInterval(-queued.inSeconds), http)
        appendWait("the host, which has its limit of requests", queued, endingAt: start, http)
        var span = TraceSpan(.request, "\(http.method) \(Self.words(http.stage))", from: start, for: took)
        span.stage = http.stage.rawValue
        var exchange = RecordedExchange(
            RecordedRequest(method: http.method, url: http.url), http.status.map { HTTPReply(status: $0) })
        (exchange.attempt, exchange.requestID) = (attempts[http.stage] ?? 1, http.requestID)
        (exchange.sentBytes, exchange.receivedBytes) = (http.sentBytes, http.receivedBytes)
        span.exchange = exchange
        span.code = code ?? http.status.flatMap { $0 >= 400 ? "\($0)" : nil }
        if let parent = http.traceParent {
            span.spanID = parent.spanID
            traceID = traceID ?? parent.traceID
        }
        spans.append(span)
    }

    /// A wait before a request that is long enough to matter.
    private mutating func appendWait(
        _ what: String, _ length: Duration, endingAt end: Date, _ http: KeyEvent.HTTPSummary
    ) {
        guard length >= Self.shortestWait else { return }
        var span = TraceSpan(.wait, "wait for \(what)", from: end.addingTimeInterval(-length.inSeconds), for: length)
        (span.stage, span.waitedFor) = (http.stage.rawValue, what)
        spans.append(span)
    }

    private static let shortestWait = Duration.microseconds(500)

    private mutating func note(
        _ name: String, _ date: Date, _ code: String? = nil, at stage: ContentKeyError.Stage? = nil
    ) {
        var span = TraceSpan(.work, name, from: date, for: .zero)
        (span.code, span.stage) = (code, stage?.rawValue ?? "")
        spans.append(span)
    }

    private mutating func finish(_ words: String, _ end: Date, _ took: Duration, _ error: ContentKeyError? = nil) {
        var span = TraceSpan(.key, "key", from: end.addingTimeInterval(-took.inSeconds), for: took)
        span.code = error?.code
        span.stage = error?.stage?.rawValue ?? ""
        spans.append(span)
        outcome = outcome ?? "\(words) \(took.inWords)"
    }

    /// Whether a span is inside another, up to rounding of clocks.
    private static func holds(_ outer: TraceSpan, _ span: TraceSpan) -> Bool {
        let isOfStage =
            outer.kind != .stage || outer.stage == span.stage || (outer.stage == "license" && span.stage == "lookup")
        return isOfStage && outer.start.addingTimeInterval(-0.002) <= span.start
            && span.end <= outer.end.addingTimeInterval(0.002)
    }

    /// A number from an event, which may have any value.
    private static func duration(_ milliseconds: Double?) -> Duration {
        guard let milliseconds, milliseconds.isFinite, 0..<3.2e13 ~= milliseconds else { return .zero }
        return .milliseconds(milliseconds)
    }

    static func words(_ stage: ContentKeyError.Stage) -> String {
        switch stage {
        case .contentIdentifier: "content identifier"
        case .spc: "SPC"
        default: stage.rawValue
        }
    }
}

extension TraceSpan.Kind {
    /// The order of two spans that begin together.
    fileprivate var rank: Int {
        switch self {
        case .key: 0
        case .stage: 1
        case .wait: 2
        case .request: 3
        case .service: 4
        case .work: 5
        }
    }
}
