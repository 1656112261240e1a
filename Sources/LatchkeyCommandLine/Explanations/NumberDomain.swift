import LatchkeyCore

/// The domain of a number, from a word before it: `CoreMediaErrorDomain`, `THEO`, `HTTP`.
struct NumberDomain: Hashable {
    /// The domains as an explanation states them.
    let names: Set<String>

    /// Shaka Player's, whose errors show `severity` and `category` in place of a domain.
    static let shaka = NumberDomain(.shakaPlayer)

    private init(_ domains: FairPlayErrorExplanation.Domain...) { names = Set(domains.map(\.rawValue)) }
    private init(own: String) { names = [own] }

    /// - Parameter word: a word of letters, in any case; `nil` if it names no domain.
    init?(word: String) {
        let word = word.lowercased()
        guard let found = Self.words[word] ?? Self.beginnings.first(where: { word.hasPrefix($0.0) })?.1 else {
            return nil
        }
        self = found
    }

    /// The domain's explanations among some.
    func filter(_ explanations: [NumberExplanation]) -> [NumberExplanation] {
        explanations.filter { names.contains($0.domain) }
    }

    /// Whether it is HTTP, of which a log is full.
    var isHTTP: Bool { self == Self(.http) }

    /// Words that are prefixes of unrelated longer words.
    private static let words = [
        "mux": NumberDomain(.muxPlayer), "hls.js": NumberDomain(.hlsJS), "hlsjs": NumberDomain(.hlsJS),
        "video.js": NumberDomain(.mediaElement), "videojs": NumberDomain(.mediaElement),
    ]

    private static let beginnings: [(String, NumberDomain)] = [
        ("latchkey", NumberDomain(own: NumberExplanation.own)),
        ("avfoundationerrordomain", NumberDomain(.avFoundation)),
        ("averror", NumberDomain(.avFoundation)),
        // CoreMedia passes on the URL loading system's numbers under its own name.
        ("coremediaerrordomain", NumberDomain(.system, .url)),
        ("nsosstatuserrordomain", NumberDomain(.system)), ("osstatus", NumberDomain(.system)),
        ("coremedia", NumberDomain(.system)), ("fairplay", NumberDomain(.system)),
        ("nsurlerrordomain", NumberDomain(.url)), ("nsurlerror", NumberDomain(.url)), ("urlerror", NumberDomain(.url)),
        ("http", NumberDomain(.http)), ("status", NumberDomain(.http)), ("theo", NumberDomain(.theoPlayer)),
        ("jw", NumberDomain(.jwPlayer)), ("shaka", NumberDomain(.shakaPlayer)), ("nagra", NumberDomain(.openTV)),
        ("opentv", NumberDomain(.openTV)), ("otv", NumberDomain(.openTV)),
        ("bitmovin", NumberDomain(.bitmovin, .bitmovinWeb)),
        ("rctvideo", NumberDomain(.reactNativeVideo)), ("react-native-video", NumberDomain(.reactNativeVideo)),
        ("vdocipher", NumberDomain(.vdoCipher)), ("muxplayer", NumberDomain(.muxPlayer)),
        ("mux-player", NumberDomain(.muxPlayer)),
        ("mediaerror", NumberDomain(.mediaElement)),
    ]
}
