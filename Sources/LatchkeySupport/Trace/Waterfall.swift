import Foundation
import LatchkeyCore

/// Steps below each other as bars on one time scale. Texts describe the bars.
struct Waterfall {
    /// A piece of a row's picture.
    struct Bar {
        /// The class of its style, such as `request`.
        let kind: String
        let start: Date
        /// In seconds; a mark has none.
        var length = 0.0
    }

    struct Row {
        let name: [HTML]
        /// Further facts, shown on hover.
        let details: String
        let time: String
        let bars: [Bar]
    }

    let start: Date
    let length: Duration
    let rows: [Row]

    /// The scale and the rows.
    var html: HTML {
        let step = Self.step(for: whole)
        let style = "--step:\(TraceFormat.percent(step / whole))"
        let scale = HTML.element(
            "div", ["class": "scale", "aria-hidden": "true"], [.element("span", ["class": "track"], marks(step))])
        return .group([
            length > .microseconds(1) ? scale : .none,
            .element("ol", ["class": "fall", "style": style], rows.map(line)),
        ])
    }

    /// In seconds.
    private var whole: Double { max(length.inSeconds, 1e-6) }

    private func marks(_ step: Double) -> [HTML] {
        (0...5).map { Double($0) * step }.filter { $0 <= whole * 0.9 }.map { seconds in
            .element(
                "span", ["style": "left:\(TraceFormat.percent(seconds / whole))"],
                TraceFormat.mark(seconds, in: whole))
        }
    }

    private func line(_ row: Row) -> HTML {
        .element(
            "li", ["title": row.details],
            [
                .element("span", [:], row.name),
                .element("span", ["class": "track", "aria-hidden": "true"], row.bars.compactMap(bar)),
                .element("span", ["class": "time"], row.time),
            ])
    }

    /// A bar; `nil` if it begins after the time shown. A bar that ends after it is cut.
    private func bar(_ bar: Bar) -> HTML? {
        let left = max(bar.start.timeIntervalSince(start) / whole, 0)
        guard left <= 1.001 else { return nil }
        let width = min(max(bar.length / whole, 0), max(1 - left, 0))
        let isCut = left + bar.length / whole > 1.001
        return .element(
            "span",
            [
                "class": "bar \(bar.kind)\(isCut ? " cut" : "")",
                "style": "left:\(TraceFormat.percent(min(left, 1)));width:\(TraceFormat.percent(width))",
            ])
    }

    /// 1, 2 or 5 times a power of ten of the scale's unit, three to five times in all.
    private static func step(for whole: Double) -> Double {
        let factor = TraceFormat.unit(for: whole).factor
        let aim = whole * factor / 2.5
        var power = 1.0
        while power * 10 <= aim, power < 1e12 { power *= 10 }
        while power > aim, power > 1e-12 { power /= 10 }
        return [1, 2, 5, 10].map { $0 * power / factor }.first { whole / $0 <= 5 } ?? whole
    }
}

extension Waterfall {
    /// The meanings of the bars' looks.
    static let legend = HTML.legend(
        "Meaning of the bars",
        [
            ("key", "a key's whole way"), ("stage", "stage"), ("request", "round trip"), ("wait", "wait"),
            ("work", "other work"), ("service", "as the service saw it"), ("lease", "lease"), ("wrong", "went wrong"),
        ])
}

/// Numbers and times in the form that a page shows.
enum TraceFormat {
    /// With one decimal.
    static func milliseconds(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    static func time(_ length: Duration) -> String {
        if length < .seconds(10) { return "\(milliseconds(length.inMilliseconds)) ms" }
        return Duration.seconds(length.inSeconds.rounded()).inWords
    }

    /// A mark of a scale, all in the unit that fits the scale.
    static func mark(_ seconds: Double, in whole: Double) -> String {
        let unit = unit(for: whole)
        let number = (seconds * unit.factor * 1_000).rounded() / 1_000
        return "\(number == number.rounded() ? "\(Int(saturating: number))" : "\(number)") \(unit.name)"
    }

    /// The unit of a scale, and how many of it make a second.
    static func unit(for whole: Double) -> (name: String, factor: Double) {
        switch whole {
        case ..<10: ("ms", 1_000)
        case ..<600: ("s", 1)
        case ..<36_000: ("min", 1 / 60)
        default: ("h", 1 / 3_600)
        }
    }

    static func percent(_ part: Double) -> String { "\((part * 10_000).rounded() / 100)%" }

    static func date(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
