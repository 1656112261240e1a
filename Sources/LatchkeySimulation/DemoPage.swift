package import Foundation
import Latchkey
import LatchkeyCore
package import LatchkeySupport

/// The page that a demonstration leaves: each picture with its waterfall, and a table of all streams.
package struct DemoPage {
    /// One played stream.
    package struct Row {
        let title, about: String
        let line: DemoLine?
        let problem: TraceProblem?
        let trace: KeyTrace

        /// - Parameters:
        ///   - title: vendor and player.
        ///   - about: the stream, in a few words.
        ///   - line: the result; `nil` if it failed.
        ///   - problem: the reason for the failure; `nil` without one.
        ///   - trace: the events.
        package init(_ title: String, _ about: String, _ line: DemoLine?, problem: TraceProblem?, _ trace: KeyTrace) {
            (self.title, self.about, self.line, self.problem, self.trace) = (title, about, line, problem, trace)
        }

        var isRight: Bool { line?.isRight == true }
    }

    private var rows: [Row] = []

    package init() {}

    package mutating func add(_ row: Row) { rows.append(row) }

    /// The page, with embedded pictures.
    package var data: Data {
        let right = rows.count(where: \.isRight)
        return Data(
            HTML.page(
                title: "Latchkey demo: \(right) of \(rows.count) right", heading: "Protected streams, played",
                summary:
                    "\(right) of \(rows.count) right. A test device made the SPCs and opened the CKCs, ffmpeg decoded, and every sample was "
                    + "compared with the clear stream.",
                rows.compactMap(\.trouble) + [pictures, matrix, times] + rows.map(\.waterfalls)
            ).utf8)
    }

    private var pictures: HTML {
        .element("section", ["class": "pictures", "aria-label": "Pictures"], rows.compactMap(\.figure))
    }

    private var matrix: HTML {
        let columns: [HTML.Column] = [
            .heading("Vendor and player"), .text("What"), .number("Requests"), .number("Time to key"),
            .number("Frames"), .text("Besides"), .text("Result"),
        ]
        return .section("Matrix", [.table("Matrix", columns, rows.map(\.cells))])
    }

    /// The time spent, per stream and step.
    private var times: HTML {
        let keys = rows.compactMap(\.line?.timeToKey).sorted()
        let range = [keys.first, keys.last].compactMap { $0.map { "\(Int(saturating: $0.inMilliseconds.rounded()))" } }
        let sum =
            range.count == 2
            ? "The first key came after \(range[0]) to \(range[1]) ms. Decoding counts all 150 frames together; a player decodes as it plays."
            : ""
        return .section(
            "Where the milliseconds went", about: sum,
            [
                TracePage.legend,
                rows.count > Self.mostUnfolded ? .folded("All \(rows.count) streams", accounts) : .group(accounts),
            ])
    }

    /// With more streams, the page shows pictures and results first.
    private static let mostUnfolded = 8

    private var accounts: [HTML] { rows.flatMap { [.element("h3", [:], $0.title), TracePage($0.trace).account] } }
}

extension DemoPage.Row {
    /// The maximum size of an embedded picture, in bytes.
    private static let pictureLimit = 2 << 20

    fileprivate var trouble: HTML? { problem.map { $0.html("\(title): \($0.stage), \($0.code)") } }

    fileprivate var figure: HTML? {
        guard let line, let picture = try? Data(contentsOf: line.picture), picture.count <= Self.pictureLimit else {
            return nil
        }
        let source = "data:image/png;base64,\(picture.base64EncodedString())"
        return .element(
            "figure", [:],
            [
                .element("img", ["src": source, "alt": "A decoded frame of \(title)", "loading": "lazy"]),
                .element("figcaption", [:], "\(title)\(isRight ? "" : " – WRONG PICTURE")"),
            ])
    }

    fileprivate var cells: [String] {
        guard let line else { return [title, about, "", "", "", "", problem?.code ?? "failed"] }
        let time = line.timeToKey.map { "\(Int(saturating: $0.inMilliseconds.rounded())) ms" } ?? "–"
        return [
            title, about, "\(line.requests)", time, "\(line.frames)", line.remark ?? "",
            line.isRight ? "every sample is right" : "WRONG PICTURE",
        ]
    }

    fileprivate var waterfalls: HTML {
        let page = TracePage(part: trace)
        return .element(
            "section", ["aria-label": title],
            [
                .element("h2", [:], title), .element("p", ["class": "soft"], about),
                .folded(
                    "Keys, leases and requests", isOpen: !isRight, [page.overview, page.leaseChart, page.waterfalls]),
            ])
    }
}
