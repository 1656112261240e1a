import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport

/// A load's report as one HTML page: no script, nothing from elsewhere, light and dark.
struct LoadPage {
    let report: LoadReport
    /// What was under load.
    let title: String

    private static let (width, height) = (900.0, 220.0)

    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="\(HTML.contentSecurityPolicy)">
        <title>Load on \(title.inHTML)</title>
        <style>\(Self.style)</style></head><body><main>
        <h1>Load on \(title.inHTML)</h1>
        <p>\(summary.inHTML)</p>
        \(latencies)
        <h2>Requests</h2>
        <p>By the second, and by what became of them.</p>
        \(outcomes)
        <h2>Figures</h2>
        \(requestTable)
        \(replyTable)
        <h2>By time</h2>
        \(momentTable)
        </main></body></html>

        """
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

    /// Whether requests took time at all: on virtual time none does.
    private var hasLatencies: Bool { report.timeline.contains { ($0.max ?? 0) >= 0.005 } }

    private var latencies: String {
        guard hasLatencies else { return "" }
        let moments = report.timeline
        let lines: [(String, String, [Double?])] = [
            ("max", "c3", moments.map(\.max)), ("p99", "c2", moments.map(\.p99)), ("p50", "c1", moments.map(\.p50)),
        ]
        return """
            <h2>Latency of what was granted</h2>
            <p>Milliseconds from the moment at which a request was meant to be sent, by that moment.</p>
            \(chart(lines, unit: "ms"))
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
        return chart(lines, unit: "requests")
    }

    /// Lines over time, with a scale and a legend.
    private func chart(_ lines: [(name: String, style: String, values: [Double?])], unit: String) -> String {
        let top = max(lines.flatMap { $0.values.compactMap(\.self) }.max() ?? 1, 0.001)
        let count = max(lines.map(\.values.count).max() ?? 1, 2)
        func place(_ index: Int, _ value: Double) -> String {
            let x = 60 + Double(index) / Double(count - 1) * (Self.width - 70)
            return String(format: "%.1f,%.1f", x, Self.height - 20 - value / top * (Self.height - 40))
        }
        var svg = """
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-label="\(unit) over time; the table has the values">

            """
        for part in [0, 0.5, 1] {
            let y = String(format: "%.1f", Self.height - 20 - part * (Self.height - 40))
            svg += "<line class=\"grid\" x1=\"60\" x2=\"890\" y1=\"\(y)\" y2=\"\(y)\"/>"
            svg += "<text x=\"54\" y=\"\(y)\" text-anchor=\"end\" dy=\"4\">\((top * part).words)</text>\n"
        }
        for line in lines {
            // A second without a value interrupts the line.
            for run in line.values.enumerated().split(whereSeparator: { $0.element == nil }) {
                let points = run.compactMap { index, value in value.map { place(index, $0) } }
                if points.count == 1, let point = points.first?.split(separator: ",") {
                    svg += "<circle class=\"\(line.style)\" cx=\"\(point[0])\" cy=\"\(point[1])\" r=\"2\"/>\n"
                } else {
                    svg += "<polyline class=\"\(line.style)\" points=\"\(points.joined(separator: " "))\"/>\n"
                }
            }
        }
        let last = report.timeline.last?.second ?? 0
        svg +=
            "<text x=\"60\" y=\"216\">0 s</text><text x=\"890\" y=\"216\" text-anchor=\"end\">\(last.words) s</text></svg>\n"
        let legend = lines.map { "<span class=\"key \($0.style)\">\($0.name)</span>" }.joined(separator: " ")
        return svg + "<p class=\"legend\">\(legend) (\(unit))</p>"
    }

    private var requestTable: String {
        let rows = LoadOutcome.allCases.compactMap { outcome in
            report.requests[outcome.rawValue].map { one in
                [outcome.rawValue, "\(one.count)"]
                    + (hasLatencies ? [one.mean, one.p50, one.p90, one.p99, one.p999, one.max].map(\.words) : [])
            }
        }
        let times = hasLatencies ? ["mean", "p50", "p90", "p99", "p99.9", "max"] : []
        return table(hasLatencies ? "Milliseconds" : "Requests", ["requests", "number"] + times, rows)
    }

    private var replyTable: String {
        let rows = report.replies.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { [$0.key, "\($0.value)"] }
        return table("Replies by status and code", ["reply", "number"], rows)
    }

    private var momentTable: String {
        let rows = report.timeline.map { moment in
            [moment.second.words, "\(moment.starts)"]
                + LoadOutcome.allCases.map { "\(moment.outcomes[$0.rawValue] ?? 0)" }
                + (hasLatencies ? [moment.p50, moment.p99, moment.max].map { $0?.words ?? "–" } : [])
        }
        return table(
            hasLatencies ? "Latencies in milliseconds" : "Requests by the second",
            ["second", "begun"] + LoadOutcome.allCases.map(\.rawValue) + (hasLatencies ? ["p50", "p99", "max"] : []),
            rows)
    }

    private func table(_ caption: String, _ titles: [String], _ rows: [[String]]) -> String {
        let head = titles.map { "<th scope=\"col\">\($0.inHTML)</th>" }.joined()
        let body = rows.map { "<tr>" + $0.map { "<td>\($0.inHTML)</td>" }.joined() + "</tr>" }.joined(separator: "\n")
        return
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"\(caption)\"><table><caption>\(caption)</caption><thead><tr>\(head)</tr></thead>\n<tbody>\(body)</tbody></table></div>"
    }

    private static let style = """
        :root{--c1:#1a7f37;--c2:#0550ae;--c3:#b42318;--c4:#8a5a00;--line:#d0d7de;--text:#1f2328;--paper:#fff}
        @media(prefers-color-scheme:dark){:root{--c1:#56d364;--c2:#79c0ff;--c3:#ff7b72;--c4:#e3b341;--line:#3d444d;--text:#e6edf3;--paper:#0d1117}}
        body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--paper);margin:0}
        main{max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
        svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--text)}
        polyline{fill:none;stroke-width:1.8}polyline.c3{stroke-width:4;stroke-opacity:.5}.grid{stroke:var(--line)}
        .c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
        .key{border-bottom:3px solid;margin-right:1rem}.key.c1{border-color:var(--c1)}.key.c2{border-color:var(--c2)}
        .key.c3{border-color:var(--c3)}.key.c4{border-color:var(--c4)}
        .wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}caption{text-align:left}
        th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
        th:first-child,td:first-child{text-align:left}
        """
}

extension String {
    /// The text in HTML, as itself, on one line.
    fileprivate var inHTML: String {
        onOneLine.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
