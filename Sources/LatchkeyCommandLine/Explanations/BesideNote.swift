import LatchkeyCore

/// The meaning of a word next to a number: a part of a URL, a file's extension, a player's message.
struct BesideNote: Sendable {
    /// `nil` for every number of the domain.
    let number: Int?
    /// `nil` for every domain, and for unknown numbers.
    let domain: FairPlayErrorExplanation.Domain?
    /// A part of the word, in lowercase; a file's extension is its end.
    let word: String
    let text: String
    /// The remedy that replaces the usual one; `nil` to keep that.
    let remedy: String?

    /// - Parameter domain: of the explanation; `nil` for an unknown number.
    func fits(_ number: Int, _ domain: String?) -> Bool {
        (self.number == nil || self.number == number) && (self.domain == nil || self.domain?.rawValue == domain)
    }

    /// - Parameter other: in lowercase.
    func matches(_ other: String) -> Bool {
        word.hasPrefix(".") ? other.hasSuffix(word) || other.contains(word + "/") : other.contains(word)
    }

    private init(
        _ number: Int?, _ domain: FairPlayErrorExplanation.Domain?, _ word: String, _ text: String,
        remedy: String? = nil
    ) {
        (self.number, self.domain, self.word, self.text, self.remedy) = (number, domain, word, text, remedy)
    }

    private static let incomplete =
        "The URL is a file of a downloaded title, which lacks the requested data; the network is not at fault. Download it again."
    private static let segment = "The URL is a segment's: the CDN or the stream's own authorization failed, not a key."

    // Source: reports of client-bugs.md n03, n05, n07, n11; muxinc/elements#1261; diagnosis.md n30 to n36, which name their threads.
    static let all = [
        BesideNote(-1009, .url, ".movpkg", incomplete, remedy: "Download the title again."),
        BesideNote(-1009, .url, "assetproperty_", incomplete, remedy: "Download the title again."),
        BesideNote(
            -12865, nil, ".movpkg",
            "The file is a downloaded title that is not at this path: an app's container moves with each installation. Store a bookmark, not the path."
        ),
        BesideNote(
            nil, .url, "licensing.bitmovin.com",
            "At this URL the Bitmovin Player checks its own license, not a key's.",
            remedy: "Let the device reach that host; the stream's keys are not involved."),
        BesideNote(nil, .url, ".ts", segment, remedy: "Look at the CDN and at the stream's own authorization."),
        BesideNote(nil, .url, ".m4s", segment, remedy: "Look at the CDN and at the stream's own authorization."),
        BesideNote(nil, .url, ".cer", "The URL is a certificate's."),
        BesideNote(nil, nil, "avassetdownloadtask", "It is a download's: the task failed, not a playback."),
        BesideNote(
            -11867, .avFoundation, "required",
            "Something did not download; no lease ended. The number below it says more."),
        BesideNote(
            -12642, .system, "part-target", "A partial segment is longer than the playlist's PART-TARGET.",
            remedy: "Have the packager state a PART-TARGET that no part exceeds; 0.001 s too much is refused."),
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

    /// The meaning of a status after the word HTTP for a number next to it.
    static func status(_ status: Int) -> String? {
        FairPlayErrorExplanation.elsewhere.first { $0.domain == .http && $0.code == status }.map {
            "The text around it says \($0.name). A media file or playlist was refused, unless the accompanying URL is a license's."
        }
    }
}
