import Foundation
import LatchkeyCore

/// Writes dates as `2026-11-22T15:00:00.125Z`. Many lines of a log have the same second, which is written once.
final class LogDates: Sendable {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    private let last = Locked<(second: Int64, text: Substring)>((.min, ""))

    func text(of date: Date) -> String {
        let milliseconds = Int64(saturating: (date.timeIntervalSince1970 * 1_000).rounded())
        let part = (milliseconds % 1_000 + 1_000) % 1_000
        let second = milliseconds / 1_000 - (milliseconds < 0 && part > 0 ? 1 : 0)
        let text = last.withLock { last in
            if last.second != second {
                let date = Date(timeIntervalSince1970: Double(second))
                last = (second, Self.style.format(date).dropLast())
            }
            return last.text
        }
        return "\(text).\(String(part + 1_000).dropFirst())Z"
    }
}
