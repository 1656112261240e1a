import Foundation
import Latchkey
import LatchkeyCore

/// A load's report as one HTML page: no script, nothing from elsewhere, light and dark.
struct LoadPage {
    let report: LoadReport
    /// What was under load.
    let title: String

    var text: String {
        ReportPage.page(
            "Load on \(title)",
            """
            <p>\(summary.inHTML)</p>
            \(latencies)
            <h2>Requests</h2>
            <p>By the second, and by what became of them.</p>
            \(outcomes)
            <h2>Figures</h2>
            \(requestTable)
            \(replyTable)
            <h2>By time</h2>
            <details><summary>\(report.timeline.count) rows</summary>
            \(momentTable)
            </details>
            """)
    }

    private var summary: String {
        let plan = report.plan
        return
            "\(plan.rate.words) playbacks a second (\(plan.arrivals)) for \(plan.seconds.words) s by \(plan.viewers) viewers. "
            + "\(report.goodput.words) licenses and heartbeats a second. "
            + (report.lost == 0
                ? "Every question was answered in the end. " : "\(report.lost) questions got no answer in the end. ")
            + "The generator took \(report.generator.processors.words) processors."
    }

    private var latencies: String {
        guard report.hasLatencies else { return "" }
        let moments = report.timeline
        let lines: [(String, String, [Double?])] = [
            ("max", "c3", moments.map(\.max)), ("p99", "c2", moments.map(\.p99)), ("p50", "c1", moments.map(\.p50)),
        ]
        return """
            <h2>Latency of what was granted</h2>
            <p>Milliseconds from the moment at which a request was meant to be sent, by that moment.</p>
            \(ReportPage.chart(lines, unit: "ms", seconds: report.timeline.last?.second ?? 0))
            """
    }

    private var outcomes: String {
        let classes = [
            "granted": "c1", "refused": "c2", "shed": "c4", "failed": "c3", "noReply": "c3", "unreadable": "c3",
        ]
        let lines: [(String, String, [Double?])] = LoadOutcome.allCases.compactMap { outcome in
            let values = report.timeline.map { Double($0.outcomes[outcome.rawValue] ?? 0) }
            guard values.contains(where: { $0 > 0 }) else { return nil }
            return (outcome.rawValue, classes[outcome.rawValue] ?? "c1", values)
        }
        return ReportPage.chart(lines, unit: "requests", seconds: report.timeline.last?.second ?? 0)
    }

    private var requestTable: String {
        let rows = LoadOutcome.allCases.compactMap { outcome in
            report.requests[outcome.rawValue].map { one in
                [outcome.rawValue, "\(one.count)"]
                    + (report.hasLatencies
                        ? [one.mean, one.p50, one.p90, one.p99, one.p999, one.max].map(\.words) : [])
            }
        }
        let times = report.hasLatencies ? ["mean", "p50", "p90", "p99", "p99.9", "max"] : []
        return ReportPage.table(
            report.hasLatencies ? "Milliseconds" : "Requests", ["requests", "number"] + times, rows)
    }

    private var replyTable: String {
        let rows = report.replies.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { [$0.key, "\($0.value)"] }
        return ReportPage.table("Replies by status and code", ["reply", "number"], rows)
    }

    private var momentTable: String {
        let rows = report.timeline.map { moment in
            [moment.second.words, "\(moment.starts)"]
                + LoadOutcome.allCases.map { "\(moment.outcomes[$0.rawValue] ?? 0)" }
                + (report.hasLatencies ? [moment.p50, moment.p99, moment.max].map { $0?.words ?? "–" } : [])
        }
        return ReportPage.table(
            report.hasLatencies ? "Latencies in milliseconds" : "Requests by the second",
            ["second", "begun"] + LoadOutcome.allCases.map(\.rawValue)
                + (report.hasLatencies ? ["p50", "p99", "max"] : []),
            rows)
    }
}
