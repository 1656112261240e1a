import LatchkeyCore

/// What a word beside a number tells of it.
struct BesideNote: Sendable {
    let number: Int
    let domain: FairPlayErrorExplanation.Domain
    /// A part of the word, in small letters.
    let word: String
    let text: String

    func fits(_ explanation: NumberExplanation) -> Bool {
        explanation.number == number && explanation.domain == domain.rawValue
    }

    private init(_ number: Int, _ domain: FairPlayErrorExplanation.Domain, _ word: String, _ text: String) {
        (self.number, self.domain, self.word, self.text) = (number, domain, word, text)
    }

    private static let incomplete =
        "The URL is a downloaded title's file, which lacks what was asked for; the network is not at fault. Download it again."

    // Source: reports of client-bugs.md n03, n05, n07, n11; muxinc/elements#1261.
    static let all = [
        BesideNote(-1009, .url, ".movpkg", incomplete), BesideNote(-1009, .url, "assetproperty_", incomplete),
        BesideNote(
            -11867, .avFoundation, "required",
            "Something did not download; no lease ended. The number below it says more."),
        BesideNote(
            -12642, .system, "parse", "It is a playlist that cannot be parsed: latchkey keys URL names the line."),
        BesideNote(
            5, .muxPlayer, "generate",
            "The browser made no SPC (5000002): its certificate or initialization data, or AirPlay on version 26.1."),
        BesideNote(
            5, .muxPlayer, "update", "The browser refused the license or the certificate (5000003, 5000004)."),
        BesideNote(
            -1000, .reactNativeVideo, "skd",
            "The player's own loader got the key URI: getLicense gave no answer for it."),
    ]
}
