import Foundation
import LatchkeyCore

/// Where the time of requests and keys went. Each moment counts once, for the most specific step under way; work on the results, such as
/// decoding, takes longer than all the rest and is left out.
struct TimeBreakdown: Sendable {
    /// A part of the time.
    struct Part: Sendable, Hashable {
        let name: String
        let length: Duration
        let kind: String
    }

    /// Longest first; without parts below a hundredth.
    let parts: [Part]
    /// The total time, without the time of work alone.
    let whole: Duration

    /// The maximum number of steps examined.
    private static let limit = 500
    /// Time outside any step.
    private static let rest = "between the steps"

    /// - Returns: `nil` if nothing took time.
    init?(_ spans: [TraceSpan]) {
        let spans = spans.filter { $0.length > .zero }.prefix(Self.limit)
        let times = spans.flatMap { [$0.start, $0.end] }.sorted()
        var sums: [String: (seconds: Double, kind: String)] = [:]
        for (start, end) in zip(times, times.dropFirst()) where start < end {
            let step = spans.filter { $0.start <= start && end <= $0.end }.max { $0.kind.detail < $1.kind.detail }
            guard step?.kind != .work else { continue }
            sums[step.map(Self.name) ?? Self.rest, default: (0, step.map { "\($0.kind)" } ?? "key")].seconds +=
                end.timeIntervalSince(start)
        }
        // Dates are inexact below a microsecond, which must not decide the order.
        sums = sums.mapValues { (($0.seconds * 1_000_000).rounded() / 1_000_000, $0.kind) }
        let seconds = sums.values.reduce(0) { $0 + $1.seconds }
        guard seconds > 0 else { return nil }
        whole = .seconds(seconds)
        parts = sums.filter { $0.value.seconds >= seconds / 100 }
            .sorted { ($1.value.seconds, $0.key) < ($0.value.seconds, $1.key) }
            .map { Part(name: $0.key, length: .seconds($0.value.seconds), kind: $0.value.kind) }
    }

    private static func name(_ span: TraceSpan) -> String {
        switch span.kind {
        case .request: span.stage.isEmpty ? "round trips" : "\(span.stage) round trip"
        case .key: "in the loader and the player"
        case .stage, .wait, .work, .service: span.name
        }
    }

    /// Such as “13.7 ms: 6.1 ms license round trip (45 %), …”.
    var words: String {
        let list = parts.map { part in
            let share = Int(saturating: (part.length.inSeconds / whole.inSeconds * 100).rounded())
            return "\(TraceFormat.time(part.length)) \(part.name) (\(share) %)"
        }
        return "\(TraceFormat.time(whole)): \(list.joined(separator: ", "))"
    }

    /// The parts as a bar and in words, with the work that was left out.
    static func html(of spans: [TraceSpan]) -> HTML {
        let work = spans.filter { $0.kind == .work && $0.length > .zero }
        let later = work.prefix(3).map { " Besides, \($0.name) took \(TraceFormat.time($0.length))." }.joined()
        guard let account = TimeBreakdown(spans) else { return .none }
        let pieces = account.parts.map { part in
            let share = TraceFormat.percent(part.length.inSeconds / account.whole.inSeconds)
            return HTML.element("span", ["class": part.kind, "style": "width:\(share)"], "")
        }
        return .group([
            .element("div", ["class": "account", "aria-hidden": "true"], pieces),
            .element("p", ["class": "soft"], "Where the time went, of \(account.words).\(later)"),
        ])
    }
}

extension TraceSpan.Kind {
    /// How specific a step is: of several under way, the most specific one explains the time.
    fileprivate var detail: Int {
        switch self {
        case .key: 0
        case .stage: 1
        case .work: 2
        case .wait: 3
        case .service: 4
        case .request: 5
        }
    }
}
