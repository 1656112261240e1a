import Foundation

extension ValueForm<Duration> {
    /// A time span in the common notation: `90s`, `10m`, `12h`, `2d`; at most 30 days.
    package static let timeSpan = ValueForm(placeholder: "TIME") { text throws(UsageError) in
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let letter = text.last, let unit = units[letter], let number = Int(text.dropLast()),
            (1...30 * 86_400).contains(number), number <= 30 * 86_400 / unit
        else { throw UsageError("needs a time such as 90s, 10m, 12h or 2d, at most 30d, not \(quoted(text))") }
        return .seconds(number * unit)
    }
}

extension Duration {
    /// The time span in its largest units: `1 h 30 min`, `6 min 41 s`, `350 ms`.
    package var shown: String {
        if self < .seconds(1) { return "\(Int((inSecondsShown * 1_000).rounded())) ms" }
        let seconds = Int(inSecondsShown.rounded())
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        return parts.filter { $0.0 > 0 }.prefix(2).map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    private var inSecondsShown: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
