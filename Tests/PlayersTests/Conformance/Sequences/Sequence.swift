import Latchkey
import LatchkeyCore
import LatchkeyMedia
import LatchkeyVendors

/// A stream as an app plays it.
struct Title: Sendable, Hashable, CustomStringConvertible {
    let stream: DemoAsset
    /// The app's name for it; `nil` if the app gives none.
    let name: AssetID?
    /// A part of the URL that changes nothing else, as for another host.
    var mirror = ""

    /// Its key is also one of `b`'s.
    static let a = Title(stream: .transportStream, name: "a")
    static let b = Title(stream: .twoKeys, name: "b")
    static let mirrorOfA = Title(stream: .transportStream, name: "a", mirror: "?host=2")
    static let unnamedA = Title(stream: .transportStream, name: nil)
    static let unnamedB = Title(stream: .twoKeys, name: nil)
    static let rotating = Title(stream: .rotation, name: "rotating")

    var description: String { "\(name ?? "unnamed") \(stream.rawValue)\(mirror)" }
}

/// An action of an app, its viewer or the system. Players are numbered.
enum Move: Sendable, Hashable {
    /// Plays a title to its end, instead of the player's current one; that is released first.
    case play(Title, Int = 0)
    /// As `play`, but the next title is protected before the last one is released.
    case overlap(Title, Int = 0)
    /// Plays the player's asset again, with a new item.
    case again(Int = 0)
    case stop(Int = 0)
    /// Forgets the player and its asset without a word.
    case drop(Int = 0)
    /// Begins to play, and stops before the license arrives.
    case abandon(Title, Int = 0)
    case preload(Title)
    /// Asks for the keys of a title, and names nothing.
    case preloadKeys(Title)
    case queue([Title], Int = 0)
    case loop(Title, Int = 0)
    /// Plays a title, with another one in the middle.
    case interstitial(Title, in: Title, Int = 0)
    case suspend(Int = 0)
    case resume(Int = 0)
    /// A number of seconds in which everything runs.
    case pass(Int)
    /// A number of seconds in one step, in the background.
    case away(Int)
    /// From now on playback moves to a receiver.
    case airPlay
    /// The media services are reset, and the app follows the documentation.
    case reset
    case replaceSession
    /// The service refuses every license from now on.
    case refuse
    case allow
    case renewEndedKeys
    /// Stores the keys of a title.
    case store(Title)

    /// The capability that an adapter needs for it.
    enum Kind: String, Sendable, CaseIterable {
        case play, overlap, again, drop, away, preload, queue, suspend, reset, replaceSession, renewEndedKeys, store
        /// Secure sessions of a vendor.
        case sessions
    }

    var kind: Kind {
        switch self {
        case .play, .stop, .pass, .airPlay, .refuse, .allow, .abandon: .play
        case .overlap: .overlap
        case .again: .again
        case .drop: .drop
        case .away: .away
        case .preload, .preloadKeys: .preload
        case .queue, .loop, .interstitial: .queue
        case .suspend, .resume: .suspend
        case .reset: .reset
        case .replaceSession: .replaceSession
        case .renewEndedKeys: .renewEndedKeys
        case .store: .store
        }
    }
}

/// The events of an app's players, one after the other.
struct PlaybackSequence: Sendable {
    let name: String
    let moves: [Move]
    /// The players whose keys the moves take away; each loss is reported.
    var losses: Set<Int> = []
    var terms = LicenseTerms(.lease(.seconds(600)))
    var profile = VendorProfile.home

    init(
        _ name: String, _ moves: Move..., losing losses: Set<Int> = [],
        terms: LicenseTerms = LicenseTerms(.lease(.seconds(600))), for profile: VendorProfile = .home
    ) {
        self.name = name
        self.moves = moves
        self.losses = losses
        self.terms = terms
        self.profile = profile
    }

    var kinds: Set<Move.Kind> {
        Set(moves.map(\.kind)).union(profile.identifier == VendorProfile.home.identifier ? [] : [.sessions])
    }

    /// Every sequence. A new one is one line here.
    static let all = [
        PlaybackSequence("one title", .play(.a)),
        PlaybackSequence("replay", .play(.a), .pass(100), .play(.a)),
        PlaybackSequence("replay, protected before the release", .play(.a), .pass(100), .overlap(.a)),
        PlaybackSequence("replay after the lease", .play(.a), .stop(), .pass(700), .play(.a)),
        PlaybackSequence("another item of the same asset", .play(.a), .pass(300), .again()),
        PlaybackSequence("zap A, B, A", .play(.a), .play(.b), .play(.a)),
        PlaybackSequence("zap A, B, A, with a lease between", .play(.a), .play(.b), .pass(700), .play(.a)),
        PlaybackSequence("zap with overlap", .play(.a), .overlap(.b), .overlap(.a)),
        PlaybackSequence("zap to the channel that shares a key", .play(.b), .play(.a)),
        PlaybackSequence(
            "zap through more channels than sessions are kept",
            .play(.a), .play(.b), .play(.mirrorOfA), .play(.rotating), .play(.unnamedA), .play(.unnamedB), .play(.a)),
        PlaybackSequence("preload, then play", .preload(.a), .pass(100), .play(.a)),
        PlaybackSequence("preload after the lease", .preload(.a), .pass(700), .play(.a)),
        PlaybackSequence("preload while another title plays", .play(.b), .preload(.a), .pass(100), .play(.a)),
        PlaybackSequence("preload and play something else", .preload(.b), .play(.a)),
        PlaybackSequence("preload without a title", .preload(.unnamedA), .play(.a)),
        PlaybackSequence("preload of bare keys", .preloadKeys(.a), .play(.a)),
        PlaybackSequence("preload of bare keys while their title plays", .play(.a), .preloadKeys(.a)),
        PlaybackSequence("mini player", .play(.a), .play(.a, 1), .stop(0)),
        PlaybackSequence("mini player goes", .play(.a), .play(.a, 1), .stop(1)),
        PlaybackSequence("two windows on one stream", .play(.a), .play(.a, 1), .pass(700), .stop(0)),
        PlaybackSequence("two windows change places", .play(.a), .play(.b, 1), .play(.b), .play(.a, 1)),
        PlaybackSequence("two titles that share a key, one goes", .play(.a), .play(.b, 1), .pass(200), .stop(0)),
        PlaybackSequence(
            "picture in picture stays, three players", .play(.a), .play(.b, 1), .play(.a, 2), .stop(0), .stop(1)),
        PlaybackSequence("one asset is deallocated", .play(.a), .drop()),
        PlaybackSequence("one of two assets is deallocated", .play(.a), .play(.a, 1), .drop(0)),
        PlaybackSequence("a deallocated asset, and the title again", .play(.a), .drop(), .play(.a)),
        PlaybackSequence("stop, and nothing plays", .play(.a), .play(.b, 1), .stop(0), .stop(1)),
        PlaybackSequence("the title from another host", .play(.a), .play(.mirrorOfA)),
        PlaybackSequence("the title from another host, in two players", .play(.a), .play(.mirrorOfA, 1), .stop(0)),
        PlaybackSequence("no titles", .play(.unnamedA), .play(.unnamedB), .play(.unnamedA)),
        PlaybackSequence("a stream first without, then with a title", .play(.unnamedA), .play(.a)),
        PlaybackSequence("rotating keys", .play(.rotating), .play(.a), .play(.rotating)),
        PlaybackSequence("queue", .queue([.a, .b])),
        PlaybackSequence("queue with one title twice", .queue([.a, .b, .a])),
        PlaybackSequence("loop", .loop(.a), .pass(300)),
        PlaybackSequence("interstitial", .interstitial(.b, in: .a)),
        PlaybackSequence("interstitial of the title's own stream", .interstitial(.a, in: .a)),
        PlaybackSequence("AirPlay", .airPlay, .play(.a)),
        PlaybackSequence("AirPlay, and another title", .airPlay, .play(.a), .play(.b), .play(.a)),
        PlaybackSequence("media services reset", .play(.a), .reset),
        PlaybackSequence("media services reset with two players", .play(.a), .play(.b, 1), .reset, .stop(1)),
        PlaybackSequence("media services reset after a zap", .play(.a), .play(.b), .reset),
        PlaybackSequence("replaced session", .play(.a), .replaceSession, .play(.a)),
        PlaybackSequence("replaced session, the next title protected first", .play(.a), .replaceSession, .overlap(.a)),
        PlaybackSequence("background", .play(.a), .pass(100), .away(200)),
        PlaybackSequence("background longer than a lease", .play(.a), .away(1_500)),
        PlaybackSequence("background with two players", .play(.a), .play(.b, 1), .away(1_500), .stop(0)),
        PlaybackSequence("suspended for a while", .play(.a), .suspend(), .pass(300), .resume()),
        PlaybackSequence("suspended longer than a lease", .play(.a), .suspend(), .pass(700), .resume()),
        PlaybackSequence("suspended, and another title", .play(.a), .suspend(), .play(.b), .resume()),
        PlaybackSequence("suspended, and stopped", .play(.a), .suspend(), .stop(), .resume(), .play(.b)),
        PlaybackSequence("the second window is suspended", .play(.a), .play(.b, 1), .suspend(1)),
        PlaybackSequence(
            "the second window is suspended, on one stream", .play(.a), .play(.a, 1), .suspend(1), .pass(700),
            .resume(1)),
        PlaybackSequence("cancelled request", .abandon(.a), .play(.a)),
        PlaybackSequence("cancelled request beside another player", .play(.a), .abandon(.a, 1)),
        PlaybackSequence("license refused, then tried again", .refuse, .play(.a), .allow, .play(.a)),
        PlaybackSequence("refused for the second player", .play(.a), .refuse, .play(.b, 1), .allow),
        PlaybackSequence("renewals refused", .play(.a), .refuse, losing: [0]),
        PlaybackSequence(
            "renewals refused, and keys asked for again", .play(.a), .refuse, .pass(700), .allow, .renewEndedKeys),
        PlaybackSequence("renewals refused, and played again", .play(.a), .refuse, .pass(700), .allow, .play(.a)),
        PlaybackSequence("renewals refused for a moment", .play(.a), .refuse, .pass(500), .allow),
        PlaybackSequence("nothing was lost, and ended keys are asked for", .play(.a), .play(.b), .renewEndedKeys),
        PlaybackSequence("stored key", .store(.a), .play(.a), terms: LicenseTerms(.persistent)),
        PlaybackSequence(
            "stored key, replay and another title", .store(.a), .play(.a), .play(.b), .play(.a),
            terms: LicenseTerms(.persistent)),
        PlaybackSequence("stored while it plays", .play(.a), .store(.a), .play(.a), terms: LicenseTerms(.persistent)),
        PlaybackSequence("session of the vendor", .play(.a), .pass(100), .play(.a), for: .nagra),
        PlaybackSequence("session of the vendor, preload", .preload(.a), .pass(100), .play(.a), for: .nagra),
        PlaybackSequence("preload again after the lease", .preload(.a), .pass(700), .preload(.a), .play(.a)),
        PlaybackSequence("session of the vendor, zap", .play(.a), .play(.b), .play(.a), for: .nagra),
        PlaybackSequence("session of the vendor, two players", .play(.a), .play(.b, 1), .stop(0), for: .nagra),
        PlaybackSequence(
            "session of the vendor, the second window is suspended",
            .play(.a), .play(.b, 1), .suspend(1), .pass(700), .resume(1), for: .nagra),
        PlaybackSequence("session of the vendor, background", .play(.a), .away(1_500), for: .nagra),
        PlaybackSequence("session of the vendor, background with two keys", .play(.b), .away(1_500), for: .nagra),
        PlaybackSequence(
            "session of the vendor, background of rotating keys", .play(.rotating), .away(1_500), for: .nagra),
        PlaybackSequence(
            "session of the vendor, renewals refused, and keys asked for again",
            .play(.a), .refuse, .pass(700), .allow, .renewEndedKeys, for: .nagra),
    ]
}
