import Foundation
import LatchkeyCore

/// A trace as a page: problems with their remedies first, then a waterfall for each key, leases, and a table of all steps.
package struct TracePage: Sendable {
    private let exchanges: [TraceExchange]
    private let problems: [TraceProblem]
    private let leases: [TraceLease]

    /// How many keys a page shows; the others are counted. A page of 10,000 waterfalls opens in no browser.
    private static let exchangeLimit = 200
    /// How many steps the table has.
    private static let rowLimit = 5_000

    package init(_ trace: KeyTrace) {
        (exchanges, problems, leases) = (trace.exchanges, trace.allProblems, trace.leases)
    }

    /// The whole page.
    package var page: String {
        HTML.page(
            title: title, style: TraceStyle.rules,
            [
                .element(
                    "header", [:],
                    [.element("h1", [:], "Trace of the keys"), .element("p", ["class": "soft"], summary)]),
                .element("main", [:], [troubles, waterfalls, leaseChart, table]),
            ])
    }

    private var title: String {
        problems.first.map { "\($0.stage): \($0.code) – Latchkey trace" } ?? "Latchkey trace"
    }

    private var summary: String {
        let keys = exchanges.count { $0.identity.number > 0 }
        let requests = exchanges.reduce(0) { $0 + $1.requests.count }
        let start = exchanges.map(\.start).min().map { ", from \(TraceFormat.date($0))" } ?? ""
        return "\(TraceFormat.count(keys, "key request")), \(TraceFormat.count(requests, "HTTP request"))\(start)"
    }
}

// MARK: - Problems

extension TracePage {
    /// What is wrong, with stage, cause and remedy; or that nothing is.
    package var troubles: HTML {
        guard !problems.isEmpty else { return .element("p", ["class": "fine"], "No key failed.") }
        let shown = problems.prefix(10).map { problem in
            HTML.element(
                "section", ["class": "problem"],
                [
                    .element("h2", [:], "\(problem.stage): \(problem.code)"), .element("p", [:], problem.reason),
                    .element("p", [:], [.element("strong", [:], "What to do: "), .text(problem.remedy)]),
                    problem.key.isEmpty
                        ? .none
                        : .element("p", ["class": "soft"], ["Key ", .element("code", [:], problem.key)]),
                ])
        }
        let more = problems.count - shown.count
        return .group(shown + (more > 0 ? [.element("p", [:], "\(more) more problems are in the table.")] : []))
    }
}

// MARK: - Waterfalls

extension TracePage {
    /// A waterfall for each key.
    package var waterfalls: HTML {
        let shown = exchanges.prefix(Self.exchangeLimit).map(waterfall)
        let more = exchanges.count - shown.count
        return .group(shown + (more > 0 ? [.element("p", [:], "\(more) more are not shown here.")] : []))
    }

    private func waterfall(_ exchange: TraceExchange) -> HTML {
        let rows = exchange.spans.prefix(300).map { span in
            row(
                Self.label(span), Self.details(span), Self.time(span, since: exchange.start),
                bars: [
                    Bar(
                        kind: span.code == nil ? "\(span.kind)" : "wrong", from: span.start,
                        length: span.length.inSeconds)
                ], in: exchange.start, exchange.length.inSeconds)
        }
        let name = Self.name(exchange)
        return .element(
            "section", ["aria-label": name],
            [
                .element("h2", [:], name),
                .element("p", ["class": "soft"], Self.words(exchange)),
                .element("ol", ["class": "fall"], rows),
            ])
    }

    private static func name(_ exchange: TraceExchange) -> String {
        let identity = exchange.identity
        let key =
            switch (identity.number, identity.key.isEmpty) {
            case (0, true): identity.owner.isEmpty ? "Before and beside the keys" : ""
            case (0, false): identity.key
            default: "Key request \(identity.number): \(identity.key)"
            }
        return [identity.owner, key].filter { !$0.isEmpty }.joined(separator: " · ")
    }

    private static func words(_ exchange: TraceExchange) -> String {
        let requests = TraceFormat.count(exchange.requests.count, "round trip")
        return [exchange.outcome, requests, "trace \(exchange.traceID)"].compactMap { $0 }.joined(separator: ", ")
    }

    private static func label(_ span: TraceSpan) -> String {
        let attempt = span.attempt.flatMap { $0 > 1 ? ", attempt \($0)" : nil } ?? ""
        let status = span.request.map { $0.status.map { ", \($0)" } ?? ", no reply" } ?? ""
        return span.name + attempt + status + (span.code.flatMap { span.request == nil ? ": \($0)" : nil } ?? "")
    }

    /// How long a step took; when it was, for one that took no time.
    private static func time(_ span: TraceSpan, since start: Date) -> String {
        span.kind == .work && span.length == .zero
            ? "at \(TraceFormat.time(.seconds(span.start.timeIntervalSince(start))))" : TraceFormat.time(span.length)
    }

    /// What more is known of a step, for whoever points at it.
    private static func details(_ span: TraceSpan) -> String {
        span.request.map { "\($0.method) \($0.url)" } ?? span.name
    }

    /// A piece of a row's picture.
    private struct Bar {
        let kind: String
        let from: Date
        /// In seconds.
        let length: Double
    }

    private func row(
        _ name: String, _ details: String, _ time: String, bars: [Bar], in start: Date, _ length: Double
    ) -> HTML {
        let whole = max(length, 1e-6)
        let drawn = bars.map { bar in
            let left = min(max(bar.from.timeIntervalSince(start) / whole, 0), 1)
            let width = min(max(bar.length / whole, 0), 1 - left)
            return HTML.element(
                "span",
                [
                    "class": "bar \(bar.kind)",
                    "style": "left:\(TraceFormat.percent(left));width:\(TraceFormat.percent(width))",
                ])
        }
        return .element(
            "li", ["title": details],
            [
                .element("span", [:], name), .element("span", ["class": "track", "aria-hidden": "true"], drawn),
                .element("span", ["class": "time"], time),
            ])
    }
}

// MARK: - Leases

extension TracePage {
    /// Leases over time, with the moment at which each is renewed; nothing without leases.
    package var leaseChart: HTML {
        guard let start = leases.first?.start else { return .none }
        let shown = leases.prefix(1_000)
        let ends = shown.map { $0.start.addingTimeInterval(($0.length ?? $0.renewal).inSeconds) }
        let whole = (ends.max() ?? start).timeIntervalSince(start)
        let rows = shown.map { lease in
            let renewal = lease.start.addingTimeInterval(lease.renewal.inSeconds)
            let length = lease.length.map { "lease of \($0.inWords)" } ?? "lease of unknown length"
            return row(
                lease.key, "\(lease.key): \(length), renewal after \(lease.renewal.inWords)",
                lease.length?.inWords ?? "–",
                bars: [
                    Bar(kind: "request", from: lease.start, length: (lease.length ?? lease.renewal).inSeconds),
                    Bar(kind: "mark", from: renewal, length: 0),
                ], in: start, whole)
        }
        return .element(
            "section", ["aria-label": "Leases and renewals"],
            [
                .element("h2", [:], "Leases and renewals"),
                .element(
                    "p", ["class": "soft"],
                    "Each bar is a lease; the mark is the planned renewal. The picture spans \(Duration.seconds(whole).inWords)."
                ),
                .element("ol", ["class": "fall"], Array(rows)),
            ])
    }
}

// MARK: - The table

extension TracePage {
    /// All steps with all that is known of them.
    package var table: HTML {
        let columns: [(name: String, isNumber: Bool)] = [
            ("Key", false), ("Step", false), ("Start", true), ("Length", true), ("Request", false), ("Status", true),
            ("Sent", true), ("Received", true), ("Attempt", true), ("Waited for", false), ("Request id", false),
            ("Error", false),
        ]
        let start = exchanges.map(\.start).min() ?? .distantPast
        let all = exchanges.flatMap { exchange in exchange.spans.map { (exchange, $0) } }
        let rows = all.prefix(Self.rowLimit).map { exchange, span in
            let texts = Self.cells(exchange, span, since: start)
            return HTML.element(
                "tr", [:],
                zip(columns, texts).map { column, text in
                    .element("td", column.isNumber ? ["class": "number"] : [:], text)
                })
        }
        let heads = columns.map {
            HTML.element("th", $0.isNumber ? ["scope": "col", "class": "number"] : ["scope": "col"], $0.name)
        }
        return .element(
            "section", [:],
            [
                .element("h2", [:], "All steps"),
                .element(
                    "div", ["class": "sheet", "tabindex": "0", "role": "region", "aria-label": "All steps"],
                    [
                        .element(
                            "table", [:],
                            [
                                .element(
                                    "caption", [:],
                                    "Start counts from the first step; lengths are in milliseconds, bodies in bytes."),
                                .element("thead", [:], [.element("tr", [:], heads)]),
                                .element("tbody", [:], Array(rows)),
                            ])
                    ]),
            ])
    }

    private static func cells(_ exchange: TraceExchange, _ span: TraceSpan, since start: Date) -> [String] {
        let request = span.request
        return [
            name(exchange), span.name, TraceFormat.milliseconds(span.start.timeIntervalSince(start) * 1_000),
            TraceFormat.milliseconds(span.length.inMilliseconds), request.map { "\($0.method) \($0.url)" } ?? "",
            request.map { $0.status.map { "\($0)" } ?? "no reply" } ?? "", request?.sentBytes.map { "\($0)" } ?? "",
            request?.receivedBytes.map { "\($0)" } ?? "", span.attempt.map { "\($0)" } ?? "", span.waitedFor ?? "",
            request?.requestID ?? "", span.code ?? "",
        ]
    }
}

/// Numbers and times as a page writes them.
enum TraceFormat {
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// With one decimal.
    static func milliseconds(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    static func time(_ length: Duration) -> String {
        length < .seconds(10) ? "\(milliseconds(length.inMilliseconds)) ms" : length.inWords
    }

    static func percent(_ part: Double) -> String { "\((part * 10_000).rounded() / 100)%" }

    static func date(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
