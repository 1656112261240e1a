import AVFoundation
import StandInEngine
import StandInPlayers
import Testing

/// An adapter in the sequences.
struct SequencePlayer: Sendable {
    let name: String
    /// The moves that apply to it.
    let kinds: Set<Move.Kind>
    /// Whether its player can renew a key.
    var renews = true
    /// Whether its player schedules renewals itself: suspended keys are still renewed, and failed ones are not requested again.
    var renewsItself = false
    let make: @Sendable (SequenceSetup) async throws -> any SequenceApp

    static let all: [SequencePlayer] = [
        // A session here keeps its assets, so one that the app drops without a release never ends (Players.md §3.9b).
        SequencePlayer(name: "AVPlayerKeys, one for all players", kinds: Set(Move.Kind.allCases).subtracting([.drop])) {
            SessionApp($0, windows: 1)
        },
        SequencePlayer(name: "AVPlayerKeys, one for each player", kinds: Set(Move.Kind.allCases).subtracting([.drop])) {
            SessionApp($0, windows: 3)
        },
        SequencePlayer(
            name: "ProtectedPlayback",
            kinds: [.play, .drop, .away, .preload, .suspend, .reset, .renewEndedKeys, .store, .sessions]
        ) { await PlaybackApp($0) },
        SequencePlayer(
            name: "ResourceLoaderKeys", kinds: [.play, .overlap, .again, .drop, .away, .suspend, .sessions],
            renewsItself: true
        ) {
            LoaderApp($0)
        },
        SequencePlayer(name: "react-native-video", kinds: [.play, .drop, .away, .suspend, .sessions]) {
            ReactNativeApp($0)
        },
        SequencePlayer(name: "CONNECT", kinds: [.play, .drop, .away, .suspend, .sessions]) {
            ConnectApp($0)
        },
        SequencePlayer(name: "JW Player 4", kinds: [.play, .drop, .away, .sessions], renewsItself: true) { JW4App($0) },
        SequencePlayer(name: "JW Player 3", kinds: [.play, .drop, .away, .sessions], renewsItself: true) { JW3App($0) },
        SequencePlayer(name: "THEOplayer", kinds: [.play, .drop, .away, .sessions], renewsItself: true) {
            THEOSequenceApp($0)
        },
        SequencePlayer(name: "TVSDK", kinds: [.play, .drop, .away], renews: false) { TVSDKSequenceApp($0) },
        // The app renews the licenses, so a license that ends while the app is in the background is lost, and the adapter does not know it.
        SequencePlayer(name: "Bitmovin", kinds: [.play, .drop], renewsItself: true) { try await BitmovinApp($0) },
    ]
}

extension Playing {
    /// An item of AVFoundation.
    init(_ item: AVPlayerItem.StandIn) {
        self.init(
            finished: { try await item.finished() },
            keys: PlayingKeys(usable: { item.usableKeys(for: $0) }, session: { item.session }))
    }

    /// A player's own playback.
    init(_ playback: SourcePlayback?) throws {
        let playback = try #require(playback)
        self.init(
            finished: { try await playback.finished() },
            keys: PlayingKeys(usable: { [weak playback] in playback?.usableKeys(for: $0) ?? [] }))
    }
}
