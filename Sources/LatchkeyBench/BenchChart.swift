import Latchkey
import LatchkeyCore
import LatchkeySupport

/// A figure over the runs so far, with what is aimed at.
struct BenchChart {
    let figure: Figure
    /// The oldest first, the one that is shown last; `nil` where it was not measured.
    let values: [Double?]

    private static let (width, height, left, right, top, bottom) = (360.0, 120.0, 64.0, 352.0, 12.0, 104.0)

    /// What the chart shows, in a sentence.
    var words: String {
        let measured = values.compactMap(\.self)
        guard let least = measured.min(), let most = measured.max(), let last = measured.last else {
            return "\(figure.name): not measured."
        }
        let aim = figure.aimText.map { ", aimed at \($0)" } ?? ""
        let runs = measured.count.counted("run")
        return "\(figure.name) in \(runs): from \(text(least)) to \(text(most)), at last \(text(last))\(aim)."
    }

    var html: HTML {
        let measured = values.compactMap(\.self)
        guard let least = (measured + aim).min(), let most = (measured + aim).max() else {
            return .element("p", ["class": "soft"], "There is nothing to draw.")
        }
        let space = max((most - least) * 0.1, most.magnitude * 0.02, 1e-9)
        let range = (low: least - space, high: most + space)
        let y = { (value: Double) in
            Self.bottom - (value - range.low) / (range.high - range.low) * (Self.bottom - Self.top)
        }
        let step = (Self.right - Self.left - 8) / Double(max(values.count - 1, 1))
        let x = { (index: Int) in
            values.count == 1 ? (Self.left + Self.right) / 2 : Self.left + 4 + Double(index) * step
        }
        let points = values.enumerated().compactMap { index, value in value.map { (x: x(index), y: y($0), value: $0) } }
        let line = points.map { "\(place($0.x)),\(place($0.y))" }.joined(separator: " ")
        let drawn: [HTML] =
            [most, least].map { mark(y($0), $0) }
            + aim.map { across(y($0), "aim") }
            + [.element("polyline", ["class": "value", "points": line], "")]
            + points.map { dot($0.x, $0.y, isMissed: figure.isMet(by: $0.value) == false) }
        return .element(
            "svg",
            ["viewBox": "0 0 \(Int(Self.width)) \(Int(Self.height))", "role": "img", "aria-label": words], drawn)
    }

    private var aim: [Double] { figure.aim.map { [$0.limit] } ?? [] }

    private func text(_ value: Double) -> String { figure.unit.text(value) }

    private func mark(_ y: Double, _ value: Double) -> HTML {
        .group([
            across(y, "grid"),
            .element("text", ["x": place(Self.left - 6), "y": place(y + 4), "text-anchor": "end"], text(value)),
        ])
    }

    private func across(_ y: Double, _ style: String) -> HTML {
        .element(
            "line", ["class": style, "x1": place(Self.left), "x2": place(Self.right), "y1": place(y), "y2": place(y)],
            "")
    }

    /// A missed aim is a square.
    private func dot(_ x: Double, _ y: Double, isMissed: Bool) -> HTML {
        isMissed
            ? .element(
                "rect",
                ["class": "dot missed", "x": place(x - 3.5), "y": place(y - 3.5), "width": "7", "height": "7"], "")
            : .element("circle", ["class": "dot", "cx": place(x), "cy": place(y), "r": "3"], "")
    }

    private func place(_ number: Double) -> String { number.shown(places: 1) }
}
