import LatchkeyCore
import LatchkeyTerminal

/// The meaning of a number, for people and for tools.
struct NumberExplanation: Encodable, Sendable {
    let number: Int
    /// Whose number it is: `system`, `avFoundation`, `url`, `http`, `latchkey`, a player's.
    let domain: String
    let name, meaning: String
    /// The notes of the text around the number in a log.
    var beside: [String] = []
    let causes: [String]
    var remedies: [String]
    /// Who can fix it; `nil` if that depends.
    let fixer: String?
    /// Whether the meaning is based on more than reports.
    let confirmed: Bool
    /// The client's error for it, if it is a vendor's code.
    private(set) var refusal: RefusalExplanation?

    init(_ explanation: FairPlayErrorExplanation) {
        number = explanation.code
        domain = explanation.domain.rawValue
        name = explanation.name
        meaning = explanation.meaning
        causes = explanation.causes
        remedies = explanation.remedies
        fixer = explanation.fixer.words
        confirmed = explanation.isConfirmed
    }

    init(_ kind: Diagnosis.Kind) {
        number = kind.number
        domain = Self.own
        name = kind.rawValue
        meaning = kind.meaning
        causes = []
        remedies = [kind.remedy, "Read the error's recovery suggestion, which is about this very failure."]
        fixer = nil
        confirmed = true
    }

    init(_ refusal: RefusalExplanation) {
        number = refusal.number
        domain = refusal.vendor
        name = refusal.title
        meaning = refusal.meaning
        causes = []
        remedies = [refusal.remedy]
        fixer = nil
        confirmed = refusal.isDocumented
        self.refusal = refusal
    }

    /// A text that distinguishes it from others.
    var identity: String { number == 0 ? "\(domain) \(name)" : "\(domain) \(number)" }

    /// The domain of Latchkey's own numbers.
    static let own = "latchkey"

    /// Every explanation of a number: the system's, those of HTTP and players, Latchkey's own.
    static func all(of number: Int) -> [Self] {
        FairPlayErrorExplanation.explanations(of: number).map(Self.init)
            + [Diagnosis.Kind(number: number)].compactMap { $0 }.map(Self.init)
    }

    var text: String {
        let title =
            "\(number == 0 ? "" : "\(number)  ")\(name)" + (whose.map { ", \($0)" } ?? "")
            + (confirmed ? "" : " (from reports)")
        let rows = [
            ("What", [meaning]), ("Here", beside), ("Why", causes), ("Try", remedies),
            ("App", refusal.map { [$0.client] } ?? []),
            ("Who", fixer.map { [$0] } ?? []), ("See", page),
        ]
        .flatMap { name, lines in lines.enumerated().map { ["  \($0 == 0 ? name : "")", $1] } }
        return title + "\n" + TextTable(rows: rows).text
    }

    /// Where the documentation lists Latchkey's own errors.
    private var page: [String] { domain == Self.own ? [Diagnosis.Kind(rawValue: name).page] : [] }

    /// The domain's name, if the same number may be another's; `nil` for the system's.
    private var whose: String? {
        switch FairPlayErrorExplanation.Domain(rawValue: domain) {
        case .theoPlayer: "THEOplayer"
        case .jwPlayer: "JW Player"
        case .shakaPlayer: "Shaka Player"
        case .openTV: "NAGRA OpenTV Player"
        case .bitmovin: "Bitmovin Player"
        case .bitmovinWeb: "Bitmovin Player for browsers"
        case .reactNativeVideo: "react-native-video"
        case .muxPlayer: "Mux Player"
        case .mediaElement: "a browser's MediaError"
        case .hlsJS: "hls.js"
        case .contribEME: "videojs-contrib-eme"
        case .vdoCipher: "VdoCipher"
        case .expoVideo: "expo-video"
        case .appEncryption: "FairPlay of apps"
        case .url: "NSURLError"
        default: nil
        }
    }
}

extension FairPlayErrorExplanation.Fixer {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .app: "the app's code"
        case .service: "the license service"
        case .packager: "who packages and delivers the stream"
        case .certificateOwner: "who holds the FairPlay certificate"
        case .viewer: "the viewer, with another display, network or device"
        case .apple: "Apple, by a newer system"
        }
    }
}
