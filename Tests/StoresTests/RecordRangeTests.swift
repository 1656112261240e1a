import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(1))) struct RecordRangeTests {
    /// 2026-11-27T12:00:00Z.
    private static let now = Date(timeIntervalSince1970: 1_795_780_800)

    @Test(arguments: [
        ("2026-11-01", "2026-11-30", "", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
        ("2026-11-01", "2026-11-01", "", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"),
        ("2026-11-27T06:00:00Z", "2026-11-27T07:30:00Z", "", "2026-11-27T06:00:00Z", "2026-11-27T07:30:00Z"),
        ("2026-11-27", "", "", "2026-11-27T00:00:00Z", "2026-11-27T12:00:00Z"),
        ("", "", "", "2026-11-20T12:00:00Z", "2026-11-27T12:00:00Z"),
        ("", "", "90m", "2026-11-27T10:30:00Z", "2026-11-27T12:00:00Z"),
        ("", "2026-11-10", "7d", "2026-11-04T00:00:00Z", "2026-11-11T00:00:00Z"),
    ])
    func `a range is read as people write it`(
        _ from: String, _ to: String, _ last: String, _ begin: String, _ end: String
    ) throws {
        let times = try RecordRange.times(from: from, to: to, last: last, at: Self.now)
        #expect(RecordRange.text(times.lowerBound) == begin && RecordRange.text(times.upperBound) == end)
    }

    @Test(arguments: [
        ("2026-11-02", "2026-11-01", ""), ("2026-11-27T12:00:00Z", "", ""), ("2026-02-30", "", ""), ("today", "", ""),
        ("2026-11-01", "", "7d"), ("", "", "seven"), ("", "", "0d"), ("2020-01-01", "", ""), ("", "", "401d"),
        ("", "x", ""), ("9999-12-31T23:59:59Z", "", ""), ("", "", "9999999999d"),
    ])
    func `an invalid range is refused with a remedy`(_ from: String, _ to: String, _ last: String) {
        #expect {
            try RecordRange.times(from: from, to: to, last: last, at: Self.now)
        } throws: { error in
            (error as? Diagnosis)?.code == "recordRange" && (error as? Diagnosis)?.remedy.isEmpty == false
        }
    }
}
