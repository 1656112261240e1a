import Foundation
import Latchkey
import LatchkeyCore

/// A trace as a page: problems with their remedies first, then all keys on one scale, leases, a waterfall for each key, and a table of
/// all steps.
package struct TracePage: Sendable {
    let exchanges: [TraceExchange]
    let leases: [TraceLease]
    /// The level of the headings of overview, leases and waterfalls.
    let heading: StaticString
    private let problems: [TraceProblem]

    /// The maximum number of steps in the table.
    private static let rowLimit = 5_000

    package init(_ trace: KeyTrace) { self.init(trace, heading: "h2") }

    /// One of several traces in a page, below its own heading.
    package init(part trace: KeyTrace) { self.init(trace, heading: "h3") }

    private init(_ trace: KeyTrace, heading: StaticString) {
        self.heading = heading
        (exchanges, problems, leases) = (trace.exchanges, trace.allProblems, trace.leases)
    }

    /// The whole page.
    package var page: String {
        HTML.page(
            title: title, heading: "Trace of the keys", summary: summary,
            [troubles, Self.legend, overview, leaseChart, waterfalls, table])
    }

    /// Where the time of all steps went, as a bar and in words.
    package var account: HTML { TimeBreakdown.html(of: exchanges.flatMap(\.spans)) }

    /// The meanings of the bars of waterfalls.
    package static var legend: HTML { Waterfall.legend }

    private var title: String {
        problems.first.map { "\($0.stage): \($0.code) – Latchkey trace" } ?? "Latchkey trace"
    }

    private var summary: String {
        let keys = exchanges.count { $0.identity.number > 0 }
        let requests = exchanges.reduce(0) { $0 + $1.requests.count }
        let start = exchanges.map(\.start).min().map { ", from \(TraceFormat.date($0))" } ?? ""
        let ofKeys = keys == 0 && requests > 0 ? "" : "\(keys.counted("key request")), "
        return "\(ofKeys)\(requests.counted("HTTP request"))\(start)"
    }
}

// MARK: - Problems

extension TracePage {
    /// The problems, with stage, cause and remedy; or a line that there are none.
    package var troubles: HTML {
        guard !problems.isEmpty else { return requestTroubles ?? .element("p", ["class": "fine"], "No key failed.") }
        let shown = problems.prefix(10)
        let more = problems.count - shown.count
        return .group(
            shown.map { $0.html() } + (more > 0 ? [.element("p", [:], "\(more) more problems are in the table.")] : []))
    }
}

extension TracePage {
    /// For a trace of requests without keys, such as that of a load: how many of them failed, and how; `nil` if there are keys.
    private var requestTroubles: HTML? {
        let requests = exchanges.flatMap(\.requests)
        guard !requests.isEmpty, !exchanges.contains(where: { $0.identity.number > 0 }) else { return nil }
        let codes = requests.compactMap(\.code)
        guard !codes.isEmpty else { return .element("p", ["class": "fine"], "No request failed.") }
        let counts = Dictionary(codes.map { ($0, 1) }, uniquingKeysWith: +)
        let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5).map { "\($0.key) (\($0.value))" }
        return .element(
            "section", ["class": "problem"],
            [
                .element("h2", [:], "\(codes.count) of \(requests.count.counted("request")) failed"),
                .element("p", [:], "Most often: \(most.joined(separator: ", "))."),
            ])
    }
}

extension TraceProblem {
    /// Stage, code, reason and remedy.
    /// - Parameters:
    ///   - title: the title of the problem; `nil` for stage and code.
    ///   - remark: an additional remark.
    package func html(_ title: String? = nil, remark: String = "") -> HTML {
        .element(
            "section", ["class": "problem"],
            [
                .element("h2", [:], title ?? "\(stage): \(code)"), .element("p", [:], reason),
                remedy.isEmpty
                    ? .none : .element("p", [:], [.element("strong", [:], "What to do: "), .text(remedy)]),
                key.isEmpty ? .none : .element("p", ["class": "soft"], ["Key ", .element("code", [:], key)]),
                remark.isEmpty ? .none : .element("p", ["class": "soft"], remark),
            ])
    }
}

// MARK: - The table

extension TracePage {
    /// All steps with all their facts; empty columns are left out.
    package var table: HTML {
        let columns: [HTML.Column] = [
            .heading("Step"), .text("Key"), .number("Start"), .number("Length"), .text("Request"), .number("Status"),
            .number("Sent"), .number("Received"), .number("Attempt"), .text("Waited for"), .text("Request id"),
            .text("Error"),
        ]
        let start = exchanges.map(\.start).min() ?? .distantPast
        let all = exchanges.flatMap { exchange in exchange.spans.map { (exchange, $0) } }
        let rows = all.prefix(Self.rowLimit).map { Self.cells($0, $1, since: start) }
        let used = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        guard !used.isEmpty else { return .none }
        return .section(
            "All steps",
            [
                .table(
                    "All steps",
                    caption: "Start counts from the first step; lengths are in milliseconds, bodies in bytes.",
                    used.map { columns[$0] }, rows.map { row in used.map { row[$0] } })
            ])
    }

    private static func cells(_ exchange: TraceExchange, _ span: TraceSpan, since start: Date) -> [String] {
        let recorded = span.exchange
        return [
            span.name, exchange.shortName, TraceFormat.milliseconds(span.start.timeIntervalSince(start) * 1_000),
            TraceFormat.milliseconds(span.length.inMilliseconds),
            recorded?.request.map { "\($0.method) \($0.url)" } ?? "",
            recorded.map { $0.reply.map { "\($0.status)" } ?? "no reply" } ?? "",
            recorded?.sentBytes.map { "\($0)" } ?? "", recorded?.receivedBytes.map { "\($0)" } ?? "",
            recorded?.attempt.map { "\($0)" } ?? "", span.waitedFor ?? "", recorded?.requestID ?? "", span.code ?? "",
        ]
    }
}
