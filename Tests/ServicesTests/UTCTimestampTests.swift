import Foundation
import LatchkeyVendorWire
import Testing

@testable import LatchkeyServices

@Suite struct UTCTimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0.0), ("2026-01-01T00:00:00Z", 1_767_225_600), ("2024-02-29T23:59:59Z", 1_709_251_199),
        ("1969-12-31T23:59:59Z", -1),
    ])
    func `a date is read`(_ text: String, _ seconds: Double) {
        #expect(UTCTimestamp.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00z", "2026-01-01 00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "２026-01-01T00:00:00Z", "2026-01-01T00:00:00Z ", "+026-01-01T00:00:00Z",
    ])
    func `other forms and invalid days are refused`(_ text: String) {
        #expect(UTCTimestamp.date(text) == nil)
    }
}
