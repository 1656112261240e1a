import Foundation

/// A date in UTC, as `2026-11-22T15:00:00Z` or with milliseconds.
///
/// Source: RFC 3339 §5.6.
enum DateText {
    private static let whole = Date.ISO8601FormatStyle()
    private static let fine = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// - Parameter text: exactly what `text(_:)` writes. The result is `nil` for other forms and for days that do not exist.
    static func date(_ text: String) -> Date? {
        let style = text.utf8.count == 20 ? whole : fine
        guard let date = try? style.parse(text), style.format(date) == text else { return nil }
        return date
    }

    /// The text of a date, with milliseconds unless they are zero. A date outside the years 1 to 9999 is moved to the nearer end.
    static func text(_ date: Date) -> String {
        let given = date.timeIntervalSince1970
        let seconds = given.isNaN ? 0 : min(max(given, -62_135_596_800), 253_402_300_799)
        return (seconds == seconds.rounded() ? whole : fine).format(Date(timeIntervalSince1970: seconds))
    }
}

extension JSONForm where Value == Date {
    static let date = JSONForm(text: "a date such as 2026-11-22T15:00:00Z", read: DateText.date, write: DateText.text)
}
