import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport

/// One HTML page with charts and tables: no script, nothing from elsewhere, light and dark.
enum ReportPage {
    private static let (width, height) = (900.0, 220.0)

    /// - Parameters:
    ///   - title: the page's name, as a text.
    ///   - body: what follows the heading, as HTML.
    static func page(_ title: String, _ body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="\(HTML.contentSecurityPolicy)">
        <title>\(title.inHTML)</title>
        <style>\(style)</style></head><body><main>
        <h1>\(title.inHTML)</h1>
        \(body)
        </main></body></html>

        """
    }

    /// Lines over time, with a scale and a legend.
    /// - Parameters:
    ///   - lines: each with a class from `c1` to `c4`, and its values at equal distances.
    ///   - seconds: the time of the last value.
    static func chart(
        _ lines: [(name: String, style: String, values: [Double?])], unit: String, seconds: Double
    ) -> String {
        let top = max(lines.flatMap { $0.values.compactMap(\.self) }.max() ?? 1, 0.001)
        let count = max(lines.map(\.values.count).max() ?? 1, 2)
        func place(_ index: Int, _ value: Double) -> String {
            let x = 60 + Double(index) / Double(count - 1) * (width - 70)
            return String(format: "%.1f,%.1f", x, height - 20 - value / top * (height - 40))
        }
        var svg = """
            <div class="wide" tabindex="0" role="region" aria-label="\(unit) over time"><svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-label="\(unit) over time; the table has the values">

            """
        for part in [0, 0.5, 1] {
            let y = String(format: "%.1f", height - 20 - part * (height - 40))
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
        svg +=
            "<text x=\"60\" y=\"216\">0 s</text><text x=\"890\" y=\"216\" text-anchor=\"end\">\(seconds.words) s</text></svg></div>\n"
        let legend = lines.map { "<span class=\"key \($0.style)\">\($0.name)</span>" }.joined(separator: " ")
        return svg + "<p class=\"legend\">\(legend) (\(unit))</p>"
    }

    /// A table that scrolls by itself where the window is narrow.
    static func table(_ caption: String, _ titles: [String], _ rows: [[String]]) -> String {
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
        svg{width:100%;min-width:36rem;height:auto}svg text{font-size:12px;fill:var(--text)}
        polyline{fill:none;stroke-width:1.8}polyline.c3{stroke-width:4;stroke-opacity:.5}.grid{stroke:var(--line)}
        .c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
        .key{border-bottom:3px solid;margin-right:1rem}.key.c1{border-color:var(--c1)}.key.c2{border-color:var(--c2)}
        .key.c3{border-color:var(--c3)}.key.c4{border-color:var(--c4)}
        .wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}caption{text-align:left}
        th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
        th:first-child,td:first-child{text-align:left}
        @media(max-width:40rem){th:first-child,td:first-child{white-space:normal;min-width:7rem;padding-left:0}}
        """
}

extension String {
    /// The text in HTML, as itself, on one line.
    var inHTML: String {
        onOneLine.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
