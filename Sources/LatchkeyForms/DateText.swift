package import Foundation

/// A date in UTC, as `2026-11-22T15:00:00Z` or with milliseconds.
///
/// Source: RFC 3339 §5.6.
package enum DateText {
    private static let whole = Date.ISO8601FormatStyle()
    private static let fine = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// - Parameter text: a text as `text(_:)` writes it. The result is `nil` for other forms and for days that do not exist.
    package static func date(_ text: String) -> Date? {
        let style = text.utf8.count == 20 ? whole : fine
        guard let date = try? style.parse(text).inMilliseconds, Self.text(date) == text else { return nil }
        return date
    }

    /// The text of a date, with milliseconds unless they are zero. A date outside the years 1 to 9999 is clamped.
    package static func text(_ date: Date) -> String {
        let given = date.timeIntervalSince1970
        let seconds = given.isNaN ? 0 : min(max(given, -62_135_596_800), 253_402_300_799)
        let date = Date(timeIntervalSince1970: seconds).inMilliseconds
        guard date.timeIntervalSince1970 != date.timeIntervalSince1970.rounded() else { return whole.format(date) }
        // The style truncates fractions, and most milliseconds are slightly below their number.
        return fine.format(date + 0.0002)
    }
}

extension Date {
    /// The date in whole milliseconds, as stored in texts and records.
    package var inMilliseconds: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 * 1_000).rounded() / 1_000) }
}

extension JSONForm where Value == Date {
    package static let date = JSONForm(
        text: "a date such as 2026-11-22T15:00:00Z", schema: .date, read: DateText.date, write: DateText.text)
}
