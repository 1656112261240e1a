/// A line over time or over runs.
package struct ChartLine: Sendable {
    /// Its style: the same as for bars of traces.
    package enum Look: String, Sendable { case stage, request, wait, wrong }

    let name: String
    let look: Look
    let values: [Double?]

    /// - Parameters:
    ///   - name: its name in the legend.
    ///   - look: its style.
    ///   - values: at equal distances; `nil` interrupts the line.
    package init(_ name: String, _ look: Look, _ values: [Double?]) {
        (self.name, self.look, self.values) = (name, look, values)
    }
}

extension HTML {
    /// Lines as a picture with a scale.
    /// - Parameters:
    ///   - words: a description for screen readers.
    ///   - size: as wide as its place allows.
    ///   - range: the range of the vertical axis.
    ///   - marks: values that are marked at the side.
    ///   - aim: the target value.
    ///   - isMissed: whether a value misses the target; if given, each value is a dot, or a square if it misses.
    ///   - ends: the labels below the left and the right end.
    ///   - text: formats a value.
    package static func chart(
        _ words: String, _ lines: [ChartLine], size: (width: Double, height: Double) = (360, 120),
        range: ClosedRange<Double>, marks: [Double], aim: Double? = nil, isMissed: ((Double) -> Bool)? = nil,
        ends: (left: String, right: String)? = nil, text: (Double) -> String
    ) -> HTML {
        let (left, right, bottom) = (64.0, size.width - 8, size.height - 20)
        func place(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
        func y(_ value: Double) -> Double {
            bottom - (value - range.lowerBound) / (range.upperBound - range.lowerBound) * (bottom - 12)
        }
        func across(_ value: Double, _ style: String) -> HTML {
            let height = place(y(value))
            return element("line", ["class": style, "x1": place(left), "x2": place(right), "y1": height, "y2": height])
        }
        func label(_ x: Double, _ y: Double, _ anchor: String, _ text: String) -> HTML {
            element("text", ["x": place(x), "y": place(y), "text-anchor": anchor], text)
        }
        func dot(_ x: Double, _ value: Double, _ look: ChartLine.Look) -> HTML {
            guard isMissed?(value) != true else {
                let corner = (x: place(x - 3.5), y: place(y(value) - 3.5))
                return element(
                    "rect", ["class": "dot missed", "x": corner.x, "y": corner.y, "width": "7", "height": "7"])
            }
            return element("circle", ["class": "dot \(look)", "cx": place(x), "cy": place(y(value)), "r": "3"])
        }
        func draw(_ line: ChartLine) -> [HTML] {
            let step = (right - left - 8) / Double(max(line.values.count - 1, 1))
            let start = line.values.count == 1 ? (left + right) / 2 : left + 4
            return line.values.enumerated().split { $0.element == nil }.flatMap { run -> [HTML] in
                let points = run.compactMap { index, value in value.map { (x: start + Double(index) * step, y: $0) } }
                let places = points.map { "\(place($0.x)),\(place(y($0.y)))" }.joined(separator: " ")
                let path = element("polyline", ["class": "line \(line.look)", "points": places])
                let hasDots = isMissed != nil || points.count == 1
                return [path] + (hasDots ? points.map { dot($0.x, $0.y, line.look) } : [])
            }
        }
        var drawn = marks.flatMap { [across($0, "grid"), label(left - 6, y($0) + 4, "end", text($0))] }
        if let aim { drawn.append(across(aim, "aim")) }
        drawn += lines.flatMap(draw)
        if let ends {
            drawn.append(label(left, size.height - 4, "start", ends.left))
            drawn.append(label(right, size.height - 4, "end", ends.right))
        }
        let box = "0 0 \(Int(size.width)) \(Int(size.height))"
        return element("svg", ["viewBox": box, "role": "img", "aria-label": words], drawn)
    }

    /// Lines over seconds, starting at zero, with a legend, as wide as a page.
    /// - Parameter seconds: the time of the last value.
    package static func chart(
        _ lines: [ChartLine], unit: String, seconds: Double, text: (Double) -> String
    ) -> HTML {
        let top = max(lines.flatMap { $0.values.compactMap(\.self) }.max() ?? 1, 0.001)
        let name = "\(unit) over time"
        let picture = chart(
            "\(name); the table has the values", lines, size: (900, 220), range: 0...top, marks: [0, top / 2, top],
            ends: ("0 s", "\(text(seconds)) s"), text: text)
        return group([sheet(name, picture), legend(unit, lines.map { ($0.look.rawValue, "\($0.name) (\(unit))") })])
    }
}
