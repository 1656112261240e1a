package import Foundation
package import LatchkeyCore
import LatchkeyForms

/// The time range of a query of the record, as people write it.
///
/// Source: `Documentation/Server/Reports.md` §1.
package enum RecordRange {
    /// The longest range.
    package static let longest = Duration.seconds(400 * 86_400)

    /// Reads a range.
    /// - Parameters:
    ///   - from: a day such as `2026-11-01`, which begins at midnight by UTC, or a time such as `2026-11-01T18:00:00Z`; empty for none.
    ///   - to: the same: a day is included as a whole, a time is excluded. An empty text means `now`.
    ///   - last: a duration such as `24h` or `7d` that ends with `to`, instead of `from`; empty for none. Without both it is seven days.
    ///   - now: the time.
    /// - Returns: milliseconds since 1970.
    /// - Throws: `recordRange`, which names the problem.
    package static func times(
        from: String, to: String, last: String, at now: Date
    ) throws(Diagnosis) -> Range<Int64> {
        let end = to.isEmpty ? milliseconds(now) : try point(to, "to", isEnd: true)
        let begin: Int64
        if !from.isEmpty {
            guard last.isEmpty else { throw problem("“from” and “last” exclude each other.", "Leave one of them out.") }
            begin = try point(from, "from", isEnd: false)
        } else {
            guard let length = DurationText.duration(last.isEmpty ? "7d" : last), length > .zero else {
                throw problem("“last” is not a duration.", "Use a duration such as 90m, 24h or 7d.")
            }
            begin = end - length.components.seconds * 1_000
        }
        guard begin < end else { throw problem("The range ends before it begins.", "Use an earlier “from”.") }
        guard end - begin <= longest.components.seconds * 1_000 else {
            throw problem("The range is longer than 400 days.", "Query it in parts.")
        }
        return begin..<end
    }

    /// The text of a time by UTC.
    package static func text(_ milliseconds: Int64) -> String { DateText.text(date(milliseconds)) }

    package static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    package static func milliseconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return Int64((min(max(seconds.isNaN ? 0 : seconds, -62_135_596_800), 253_402_300_799) * 1_000).rounded())
    }

    private static func point(_ text: String, _ name: String, isEnd: Bool) throws(Diagnosis) -> Int64 {
        if text.utf8.count == 10, let day = DateText.date("\(text)T00:00:00Z") {
            return milliseconds(day) + (isEnd ? 86_400_000 : 0)
        }
        guard let time = DateText.date(text) else {
            throw problem("“\(name)” is neither a day nor a time.", "Use 2026-11-01 or 2026-11-01T18:00:00Z, in UTC.")
        }
        return milliseconds(time)
    }

    private static func problem(_ reason: String, _ remedy: String) -> Diagnosis {
        Diagnosis(code: "recordRange", reason: reason, remedy: remedy)
    }
}
