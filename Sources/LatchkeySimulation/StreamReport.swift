public import Foundation
public import Latchkey
public import LatchkeyCore
public import LatchkeyDevice
public import LatchkeyPlayback

/// What came of playing one stream: its keys, the requests for them, and the pictures.
public struct StreamReport: Sendable {
    /// The keys in the order in which the stream names them.
    public var keys: [Key] = []
    /// The requests for certificate and licenses, in the order of their replies.
    public var requests: [KeyEvent.HTTPSummary] = []
    /// From opening the stream to having its last key.
    public var timeToKey = Duration.zero
    /// When decoding began, and how long it took; `nil` if nothing was decoded.
    public internal(set) var decoding: (start: Date, length: Duration)?
    /// What the decoder made of the media; `nil` if a key was missing.
    public var playback: PlaybackResult?
    /// Whether the media came out right; `nil` if nothing was played.
    public var verdict: PlaybackVerdict?
    /// The number of media playlists that were played: a variant, and its audio if that is apart.
    public internal(set) var playlistCount = 0

    /// A report of nothing.
    init() {}

    /// A report of a stream in clear.
    /// - Parameters:
    ///   - playback: what the decoder made of the media.
    ///   - playlists: the number of media playlists that were played.
    ///   - reference: the hashes of the stream, for a verdict that rests on them.
    public init(clear playback: PlaybackResult, playlists: Int, reference: ReferenceHashes? = nil) {
        self.playback = playback
        playlistCount = playlists
        verdict = playback.verdict(against: reference)
    }

    /// One key of the stream.
    public struct Key: Sendable {
        /// The key's URI.
        public let uri: KeyURI
        /// The key as the device has it, or why it has none.
        public let outcome: Result<DeviceKey, any Error>
        /// What the app has to store in place of the persistable key that started; `nil` if the key stays valid.
        public let replacement: Data?

        init(uri: KeyURI, _ started: Result<StartedKey, any Error>) {
            self.uri = uri
            outcome = started.map(\.key)
            replacement = (try? started.get())?.replacement
        }
    }

    /// The first error among the keys.
    public var failure: (any Error)? {
        keys.lazy.compactMap { key in
            if case .failure(let error) = key.outcome { error } else { nil }
        }.first
    }

    /// The number of decoded pictures.
    public var frameCount: Int { playback?.tracks.first { $0.media == .video }?.frames.count ?? 0 }

    /// Whether every key came and everything that was decoded is right.
    public var isRight: Bool { failure == nil && verdict?.isRight == true }
}
