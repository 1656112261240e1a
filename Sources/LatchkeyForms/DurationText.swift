import LatchkeyCore

/// A duration as `90s`, `5m`, `2h` or `30d`.
///
/// Source: `Documentation/LicenseServer.md` §6.2.
package enum DurationText {
    /// The units, largest first.
    private static let units: [(letter: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]

    /// - Parameter text: 1 to 10 digits and a unit. The result is `nil` for anything else, and above `Duration.longest`.
    package static func duration(_ text: String) -> Duration? {
        guard let unit = units.first(where: { $0.letter == text.last }), (2...11).contains(text.utf8.count),
            text.dropLast().utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int64(text.dropLast())
        else { return nil }
        let duration = Duration.seconds(count * unit.seconds)
        return duration <= .longest ? duration : nil
    }

    /// The text of a duration in whole seconds, in the largest unit that states it exactly. A fraction is dropped.
    package static func text(_ duration: Duration) -> String {
        let seconds = max(0, duration.clamped.components.seconds)
        guard seconds > 0, let unit = units.first(where: { seconds.isMultiple(of: $0.seconds) }) else { return "0s" }
        return "\(seconds / unit.seconds)\(unit.letter)"
    }
}

extension JSONForm where Value == Duration {
    package static func duration(_ range: ClosedRange<Duration> = .seconds(1) ... .longest) -> JSONForm {
        let end = range.upperBound == .longest ? "136 years" : DurationText.text(range.upperBound)
        return JSONForm(
            text: "a duration such as 90s, 5m, 2h or 30d, from \(DurationText.text(range.lowerBound)) to \(end)",
            schema: .text.with(["pattern": .text("^[0-9]{1,10}[smhd]$")]),
            read: { DurationText.duration($0).flatMap { range.contains($0) ? $0 : nil } }, write: DurationText.text)
    }
}
