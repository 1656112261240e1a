import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeySupport

@Suite struct WaterfallTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    private func html(of bars: [(start: Double, length: Double)], in length: Double) -> String {
        let bars = bars.map {
            Waterfall.Bar(kind: "request", start: Self.date.addingTimeInterval($0.start), length: $0.length)
        }
        let row = Waterfall.Row(name: ["a"], details: "b", time: "c", bars: bars)
        return Waterfall(start: Self.date, length: .seconds(length), rows: [row]).html.source
    }

    @Test(
        arguments: [
            (0.05, ["0 ms", "10 ms", "20 ms", "30 ms", "40 ms"]), (0.0003, ["0 ms", "0.1 ms", "0.2 ms"]),
            (61, ["0 s", "20 s", "40 s"]), (7_200, ["0 min", "50 min", "100 min"]),
            (86_400, ["0 h", "5 h", "10 h", "15 h", "20 h"]),
        ] as [(Double, [String])]) func `the scale has round numbers in one unit`(_ length: Double, _ marks: [String])
    {
        let html = html(of: [], in: length)
        #expect(html.matches(of: />([^<>]+)<\/span>/).map { "\($0.1)" } == marks + ["a", "c"])
    }

    @Test func `an overlong bar is cut, and one that begins later is not drawn`() {
        let html = html(of: [(0.5, 0.25), (0.5, 5), (2, 1)], in: 1)
        #expect(html.contains("class=\"bar request\" style=\"left:50.0%;width:25.0%\""))
        #expect(html.contains("class=\"bar request cut\" style=\"left:50.0%;width:50.0%\""))
        #expect(html.matches(of: /class="bar/).count == 2)
    }

    @Test func `a span without length, or without end, breaks nothing`() {
        for length in [0, -1, 1e15] { #expect(!html(of: [(0, 1)], in: length).contains("nan")) }
    }
}
