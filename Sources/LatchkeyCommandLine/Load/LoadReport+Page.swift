import LatchkeySupport

extension LoadReport {
    /// The report as a page.
    /// - Parameter target: the server under load.
    func page(of target: String) -> String {
        let rows = HTML.folded("\(timeline.count) rows", [momentTable])
        let latencies = HTML.section(
            "Latency of granted requests",
            about: "Milliseconds since the planned time of a request, by that time.",
            [
                chart(
                    "ms",
                    [
                        .init("max", .wrong, timeline.map(\.max)), .init("p99", .stage, timeline.map(\.p99)),
                        .init("p50", .request, timeline.map(\.p50)),
                    ])
            ])
        return HTML.page(
            title: "Load on \(target)", heading: "Load on \(target)", summary: summary,
            [
                hasLatencies ? latencies : .none,
                .section(
                    "Requests", about: "Per second, by outcome.", [chart("requests", outcomes)]),
                .section("Figures", [requestTable, replyTable]), .section("By time", [rows]),
            ])
    }

    private var summary: String {
        "\(plan.rate.words) playbacks a second (\(plan.arrivals)) for \(plan.seconds.words) s by \(plan.viewers) viewers. "
            + "\(goodput.words) licenses and heartbeats a second. "
            + (lost == 0
                ? "Every request got an answer in the end. " : "\(lost) requests got no answer in the end. ")
            + "The generator took \(generator.processors.words) processors."
    }

    private func chart(_ unit: String, _ lines: [ChartLine]) -> HTML {
        .chart(lines, unit: unit, seconds: timeline.last?.second ?? 0, text: \.words)
    }

    private var outcomes: [ChartLine] {
        let looks: [LoadOutcome: ChartLine.Look] = [.granted: .request, .refused: .stage, .shed: .wait]
        return LoadOutcome.allCases.compactMap { outcome in
            let values = timeline.map { Double($0.outcomes[outcome.rawValue] ?? 0) }
            return values.contains { $0 > 0 } ? .init(outcome.rawValue, looks[outcome] ?? .wrong, values) : nil
        }
    }

    private var requestTable: HTML {
        let times = hasLatencies ? ["mean", "p50", "p90", "p99", "p99.9", "max"] : []
        let rows = requestRows([\.mean, \.p50, \.p90, \.p99, \.p999, \.max])
        return table(hasLatencies ? "Milliseconds" : "Requests", ["requests", "number"] + times, rows)
    }

    private var replyTable: HTML {
        table("Replies by status and code", ["reply", "number"], sortedReplies.map { [$0.label, "\($0.count)"] })
    }

    private var momentTable: HTML {
        let rows = timeline.map { moment in
            [moment.second.words, "\(moment.starts)"]
                + LoadOutcome.allCases.map { "\(moment.outcomes[$0.rawValue] ?? 0)" }
                + (hasLatencies ? [moment.p50, moment.p99, moment.max].map { $0?.words ?? "–" } : [])
        }
        let titles = ["second", "begun"] + LoadOutcome.allCases.map(\.rawValue)
        return table(
            hasLatencies ? "Latencies in milliseconds" : "Requests by the second",
            titles + (hasLatencies ? ["p50", "p99", "max"] : []), rows)
    }

    private func table(_ name: String, _ titles: [String], _ rows: [[String]]) -> HTML {
        .table(name, caption: name, [.heading(titles[0])] + titles.dropFirst().map { .number($0) }, rows)
    }
}
