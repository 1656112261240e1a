import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport

/// The figures as a page: charts with aims and history, and tables with the numbers.
struct BenchPage {
    let figures: [Figure]
    let history: BenchHistory
    let run: BenchRun

    /// The maximum number of runs shown.
    private static let limit = 60
    /// The maximum number of runs in the table, which fits on paper.
    private static let columns = 8

    var page: String {
        HTML.page(
            title: "\(met) – latchkey-bench", heading: "How fast the pieces are", summary: summary,
            [verdict, charts, table, runTable])
    }

    /// The runs of the same build. Other builds are not comparable.
    private var runs: [BenchRun] { history.runs.filter { $0.build == run.build }.suffix(Self.limit) }

    private var met: String {
        let aimed = figures.filter { $0.aim != nil }
        return "\(aimed.count { $0.isMet == true }) of \(aimed.count) aims met"
    }

    private var summary: String {
        let unreadable = history.unreadable == 0 ? "" : " \(history.unreadable) lines of the history cannot be read."
        return "\(met). Measured at \(Self.date(run.date)) by a \(run.build) build, after "
            + "\(runs.count - 1) earlier \(runs.count == 2 ? "run" : "runs") of its kind.\(unreadable)"
    }

    private var verdict: HTML {
        let missed = figures.filter { $0.isMet == false }.map { figure in
            let value = figure.value.map(figure.unit.text) ?? "–"
            return HTML.element("li", [:], "\(figure.name): \(value), aim \(figure.aimText ?? "–")")
        }
        let isDebug = run.build == "debug"
        return .group([
            isDebug ? .element("p", ["class": "problem"], "A debug build: its figures mean little.") : .none,
            missed.isEmpty
                ? .element("p", ["class": "fine"], "No aim is missed.")
                : .element(
                    "section", ["class": "problem"], [.element("h2", [:], "Missed aims"), .element("ul", [:], missed)]),
        ])
    }

    private var charts: HTML {
        .section(
            "Figures",
            about:
                "Each chart has the runs so far, the latest at the right; the dashed line is the aim, a square misses it.",
            [.element("div", ["class": "cards"], figures.map(card))])
    }

    private func card(_ figure: Figure) -> HTML {
        let verdict: HTML =
            switch figure.isMet {
            case true?: "met"
            case false?: .element("strong", ["class": "bad"], "missed")
            case nil: figure.value == nil ? "not measured" : "no aim"
            }
        let aim = figure.aimText.map { "aim \($0), " } ?? ""
        return .element(
            "div", ["class": "card"],
            [
                .element("h3", [:], figure.name),
                .element("p", ["class": "value"], figure.value.map(figure.unit.text) ?? "–"),
                .element("p", ["class": "soft"], [.text(aim), verdict]),
                figure.chart(of: runs.map { $0.value(of: figure.name) }),
                .element("p", ["class": "soft"], figure.note),
            ])
    }

    private var table: HTML {
        let columns: [HTML.Column] = [
            .heading("Figure"), .number("Measured"), .number("Aim"), .text("Met"), .text("Made of"),
        ]
        return .section(
            "This run", [.folded("The figures as a table", [.table("This run", columns, figures.map(\.cells))])])
    }

    private var runTable: HTML {
        let shown = Array(runs.reversed().prefix(Self.columns))
        let columns = [HTML.Column.heading("Figure")] + shown.map { .number(Self.date($0.date)) }
        let rows = figures.map { figure in
            [figure.name] + shown.map { $0.value(of: figure.name).map(figure.unit.text) ?? "–" }
        }
        let table = HTML.table("Latest runs", caption: "By their times (UTC), the latest first.", columns, rows)
        return .section("Latest runs", [.folded("\(shown.count) of \(runs.count.counted("run"))", [table])])
    }

    private static func date(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.dash).dateTimeSeparator(.space).time(
                includingFractionalSeconds: false))
    }
}
