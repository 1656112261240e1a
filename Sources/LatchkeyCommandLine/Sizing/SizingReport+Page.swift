import LatchkeySupport

extension SizingReport {
    /// The sizing table as a page, with the arrivals of each second and how full each part is.
    var page: String {
        let title = "Nodes and primaries for a crowd"
        let titles: [HTML.Column] = [.heading("")] + columns.map { .number($0.name) }
        return HTML.page(
            title: title, heading: title,
            summary: [verdict, remark].compactMap(\.self).joined(separator: " "),
            [.table("Sizes", caption: "Sizes", titles, rows.map { [$0.name] + $0.cells })] + charts)
    }

    /// The charts of the operator's own column, or of the largest crowd.
    private var charts: [HTML] {
        guard let column = own ?? columns.last else { return [] }
        // The number of points that a line of the chart shows.
        let step = max(1, (column.timeline.count + 599) / 600)
        let seconds = stride(from: 0, to: column.timeline.count, by: step).map { start in
            column.timeline[start..<min(start + step, column.timeline.count)]
        }
        func line(
            _ name: String, _ look: ChartLine.Look, _ value: (SizingResult.Second) -> Double
        ) -> ChartLine { .init(name, look, seconds.map { $0.map(value).max() }) }
        func section(_ heading: String, about: String, _ unit: String, _ lines: [ChartLine]) -> HTML {
            let last = Double(column.timeline.count)
            return .section(heading, about: about, [.chart(lines, unit: unit, seconds: last, text: \.words)])
        }
        let refused = column.refused > 0 ? [line("refusals", .wrong, \.refused)] : []
        let beats = column.heartbeatsAtMost > 0 ? [line("heartbeats", .stage, \.heartbeats)] : []
        let primaries = column.primaries.count > 0 ? [line("the fullest primary", .stage) { $0.primaries * 100 }] : []
        return [
            section(
                "Requests a second: \(column.name)", about: "First attempts only.", "a second",
                refused + [line("licenses", .request, \.licenses)] + beats),
            section(
                "How full", about: "The load as a share of all cores' capacity, if nothing is refused.", "%",
                [line("nodes", .request) { $0.nodes * 100 }] + primaries
                    + [line("wanted", .wait) { _ in fullness * 100 }]),
            section(
                "Wait at a node",
                about: "The longest in each second. A node refuses requests that would wait longer than 60 ms.",
                "ms", [line("wait", .request, \.wait)]),
        ]
    }
}
