/// An unknown number, under its domain.
struct UnknownNumber: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    /// As the log has it.
    let domain: String
    /// The notes of the text around the number.
    var beside: [String] = []

    var description: String {
        let elsewhere = NumberExplanation.all(of: number).prefix(2).map { $0.name }
        let hint = elsewhere.isEmpty ? "" : "; in other domains it is \(elsewhere.joined(separator: " or "))"
        let family = elsewhere.isEmpty ? Self.family(of: number).map { "; it lies among \($0)" } ?? "" : ""
        return (["Nothing is known of \(number) of \(domain.prefix(60))\(hint)\(family)."] + beside).joined(
            separator: " ")
    }

    /// The family of the numbers around it; `nil` if unknown.
    static func family(of number: Int) -> String? { families.first { $0.numbers.contains(number) }?.words }

    // Source: the known numbers, by subject; Apple documents no CoreMedia or FairPlay numbers for streaming.
    private static let families: [(numbers: ClosedRange<Int>, words: String)] = [
        (-42_999...(-42_500), "FairPlay's numbers for SPCs, licenses and stored keys"),
        (-42_199...(-42_100), "FairPlay's numbers for apps of the App Store, which have no part in streaming"),
        (-19_199...(-19_100), "FairPlay's numbers for a key in use: its track and its output"),
        (
            -16_999...(-15_000),
            "CoreMedia's numbers for playlists and segments, refused, late or wrong; keys are not at fault"
        ),
        (
            -12_999...(-12_600),
            "CoreMedia's numbers for playlists and segments, refused, late or wrong; keys are not at fault"
        ),
        (-12_099...(-12_000), "CoreMedia's numbers for protected output"),
        (-11_899...(-11_800), "AVFoundation's numbers, each with another one below it"),
        (-1_299...(-995), "the URL loading system's numbers"),
    ]
}
