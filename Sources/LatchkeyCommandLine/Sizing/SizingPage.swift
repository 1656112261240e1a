import LatchkeyCore

/// The sizing table as a page, with what comes each second and how full each part is.
struct SizingPage {
    let report: SizingReport

    var text: String {
        ReportPage.page(
            "Nodes and primaries for a crowd",
            """
            <p>\(([report.verdict, report.remark].compactMap(\.self)).joined(separator: " ").inHTML)</p>
            \(ReportPage.table("Sizes", [""] + report.columns.map(\.name), report.rows.map { [$0.name] + $0.cells }))
            \(charts)
            """)
    }

    /// Those of the operator's own, or of the largest crowd.
    private var charts: String {
        guard let column = report.own ?? report.columns.last else { return "" }
        // As many points as a line of the chart shows.
        let step = max(1, (column.timeline.count + 599) / 600)
        let seconds = stride(from: 0, to: column.timeline.count, by: step).map { start in
            column.timeline[start..<min(start + step, column.timeline.count)]
        }
        func line(_ name: String, _ style: String, _ value: (SizingResult.Second) -> Double)
            -> (name: String, style: String, values: [Double?])
        {
            (name, style, seconds.map { $0.map(value).max() })
        }
        let last = Double(column.timeline.count)
        let refused = column.refused > 0 ? [line("refusals", "c3", \.refused)] : []
        let beats = column.heartbeatsAtMost > 0 ? [line("heartbeats", "c2", \.heartbeats)] : []
        let primaries = column.primaries.count > 0 ? [line("the fullest primary", "c2") { $0.primaries * 100 }] : []
        let wanted = [line("wanted", "c4") { [full = report.fullness] _ in full * 100 }]
        return """
            <h2>Requests a second: \(column.name.inHTML)</h2>
            <p>As they come for the first time.</p>
            \(ReportPage.chart(refused + [line("licenses", "c1", \.licenses)] + beats, unit: "a second", seconds: last))
            <h2>How full</h2>
            <p>What comes, of what all cores can do, if nothing is refused.</p>
            \(ReportPage.chart([line("nodes", "c1") { $0.nodes * 100 }] + primaries + wanted, unit: "%", seconds: last))
            <h2>Wait at a node</h2>
            <p>The longest in each second. A node refuses what it would have to let wait longer than 60 ms.</p>
            \(ReportPage.chart([line("wait", "c1", \.wait)], unit: "ms", seconds: last))
            """
    }
}
