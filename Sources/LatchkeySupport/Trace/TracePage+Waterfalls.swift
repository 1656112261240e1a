import Foundation
import Latchkey
import LatchkeyCore

// MARK: - All keys on one scale

extension TracePage {
    /// The maximum number of keys that a page shows; the others are counted. No browser opens a page of 10,000 waterfalls.
    private static let exchangeLimit = 200

    /// A row for each key, which links to its waterfall; nothing for a single one.
    package var overview: HTML {
        guard exchanges.count > 1, let start = exchanges.map(\.start).min() else { return .none }
        let shown = exchanges.prefix(Self.exchangeLimit)
        let end = shown.map { $0.start.addingTimeInterval($0.window.inSeconds) }.max() ?? start
        let rows = shown.map { exchange in
            Waterfall.Row(
                name: [.element("a", ["href": "#\(exchange.anchor)"], exchange.shortName)], details: exchange.name,
                time: TraceFormat.time(exchange.length),
                bars: exchange.spans.filter { $0.kind != .stage }.prefix(100).map(Self.bar))
        }
        let waterfall = Waterfall(
            start: start, length: .seconds(end.timeIntervalSince(start)), rows: Array(rows))
        return .element("section", [:], [.element(heading, [:], "All keys, one below the other"), waterfall.html])
    }
}

// MARK: - Each key

extension TracePage {
    /// A waterfall for each key.
    package var waterfalls: HTML {
        let shown = exchanges.prefix(Self.exchangeLimit).map(waterfall)
        let more = exchanges.count - shown.count
        return .group(shown + (more > 0 ? [.element("p", [:], "\(more) more are not shown here.")] : []))
    }

    private func waterfall(_ exchange: TraceExchange) -> HTML {
        let requests = exchange.requests.count.counted("round trip")
        let words = [exchange.outcome, requests, "trace \(exchange.traceID)"].compactMap { $0 }
        let picture = Waterfall(start: exchange.start, length: exchange.window, rows: rows(of: exchange))
        return .element(
            "section", ["id": exchange.anchor, "aria-label": exchange.name],
            [
                .element(heading, [:], exchange.name), .element("p", ["class": "soft"], words.joined(separator: ", ")),
                TimeBreakdown.html(of: exchange.spans), picture.html,
            ])
    }

    /// A row for each step, and one for consecutive similar steps, such as the segments of a stream.
    private func rows(of exchange: TraceExchange) -> [Waterfall.Row] {
        var groups: [[TraceSpan]] = []
        for span in exchange.spans.prefix(300) {
            if let last = groups.last?.last, Self.isAlike(last, span) {
                groups[groups.count - 1].append(span)
            } else {
                groups.append([span])
            }
        }
        var trip = 0
        return groups.compactMap { spans in
            guard let first = spans.first else { return nil }
            let start = trip
            trip += spans.count { $0.kind == .request }
            let badge = trip > start ? [Self.badge(start + 1...trip)] : []
            let count = spans.count > 1 ? " × \(spans.count)" : ""
            let end = spans.map(\.end).max() ?? first.end
            return Waterfall.Row(
                name: badge + [.text(Self.label(first) + count)], details: Self.details(first),
                time: Self.time(first, until: end, since: exchange.start), bars: spans.map(Self.bar))
        }
    }

    private static func isAlike(_ one: TraceSpan, _ other: TraceSpan) -> Bool {
        one.kind == other.kind && one.code == nil && other.code == nil
            && [.request, .service, .work].contains(one.kind)
            && label(one) == label(other)
    }

    /// The numbers of round trips.
    private static func badge(_ trips: ClosedRange<Int>) -> HTML {
        let numbers = trips.count > 1 ? "\(trips.lowerBound)–\(trips.upperBound)" : "\(trips.lowerBound)"
        return .group([
            .element("b", ["class": "trip"], [.element("span", ["class": "unseen"], "round trip "), .text(numbers)]),
            " ",
        ])
    }

    private static func bar(_ span: TraceSpan) -> Waterfall.Bar {
        Waterfall.Bar(
            kind: span.code == nil ? "\(span.kind)" : "wrong", start: span.start, length: span.length.inSeconds)
    }

    private static func label(_ span: TraceSpan) -> String {
        let attempt = span.exchange?.attempt.flatMap { $0 > 1 ? ", attempt \($0)" : nil } ?? ""
        let status = span.exchange.map { $0.reply.map { ", \($0.status)" } ?? ", no reply" } ?? ""
        return span.name + attempt + status + (span.code.flatMap { span.exchange == nil ? ": \($0)" : nil } ?? "")
    }

    /// A step's duration; or its time, if it took none.
    private static func time(_ span: TraceSpan, until end: Date, since start: Date) -> String {
        span.kind == .work && span.length == .zero
            ? "at \(TraceFormat.time(.seconds(span.start.timeIntervalSince(start))))"
            : TraceFormat.time(max(span.length, .seconds(end.timeIntervalSince(span.start))))
    }

    private static func details(_ span: TraceSpan) -> String {
        span.exchange?.request.map { "\($0.method) \($0.url)" } ?? span.name
    }
}

extension TraceExchange {
    /// Its name on a page.
    var name: String {
        let key = identity.number > 0 && !identity.key.isEmpty ? ": \(identity.key)" : ""
        return identity.number == 0 && !identity.key.isEmpty ? joined(identity.key) : shortName + key
    }

    /// Its name without the key's URI.
    var shortName: String {
        guard identity.number == 0 else { return joined("Key request \(identity.number)") }
        return identity.owner.isEmpty ? "Other requests" : joined("")
    }

    /// Its place in a page.
    var anchor: String { "exchange-\(identity.number)-\(traceID)" }

    /// How much of it a waterfall shows. Work that takes far longer than all requests, such as decoding, is cut: next to it, the requests
    /// would be slivers.
    var window: Duration {
        let ends = spans.filter { $0.kind != .work && $0.length > .zero }.map(\.end)
        let requests = Duration.seconds((ends.max() ?? start).timeIntervalSince(start))
        return requests > .zero && length > requests * 3 ? requests * 1.25 : length
    }

    private func joined(_ words: String) -> String {
        [identity.owner, words].filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

// MARK: - Leases

extension TracePage {
    /// The leases of each key over time, with the moments of renewals and failures; nothing without leases.
    package var leaseChart: HTML {
        let shown = leases.prefix(1_000)
        guard let start = shown.first?.start else { return .none }
        let whole = (shown.map(\.end).max() ?? start).timeIntervalSince(start)
        let byKey = Dictionary(grouping: shown, by: \.key)
        let keys = shown.map(\.key).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let rows = keys.map { key in row(of: byKey[key] ?? [], key) }
        return .element(
            "section", ["aria-label": "Leases and renewals"],
            [
                .element(heading, [:], "Leases and renewals"),
                .element(
                    "p", ["class": "soft"],
                    "Each bar is a lease, and each mark the renewal that is planned for it; where bars overlap, the key was renewed in time."
                ),
                Waterfall(start: start, length: .seconds(whole), rows: rows).html,
            ])
    }

    private func row(of leases: [TraceLease], _ key: String) -> Waterfall.Row {
        let failures = exchanges.filter { $0.identity.key == key }.flatMap(\.spans).filter {
            $0.kind == .work && $0.code != nil
        }
        let bars =
            leases.map { Waterfall.Bar(kind: "lease", start: $0.start, length: $0.end.timeIntervalSince($0.start)) }
            + leases.map { Waterfall.Bar(kind: "mark", start: $0.start.addingTimeInterval($0.renewal.inSeconds)) }
            + failures.map { Waterfall.Bar(kind: "wrong", start: $0.start) }
        let lengths = Set(leases.map { $0.length.map { "lease of \($0.inWords)" } ?? "lease of unknown length" })
        return Waterfall.Row(
            name: [
                .text("\(key), \(lengths.sorted().joined(separator: ", "))"),
                .text(failures.isEmpty ? "" : ", \(failures.count.counted("failure"))"),
            ], details: key, time: leases.count.counted("lease"), bars: bars)
    }
}

extension TraceLease {
    /// When it ends, or is renewed if its length is not known.
    fileprivate var end: Date { start.addingTimeInterval((length ?? renewal).inSeconds) }
}
