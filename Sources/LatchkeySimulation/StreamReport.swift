public import Foundation
public import Latchkey
public import LatchkeyCore
public import LatchkeyDevice
public import LatchkeyPlayback

/// The results of playing one stream: its keys, the requests for them, and the pictures.
public struct StreamReport: Sendable {
    /// The keys in the order in which the stream names them.
    public var keys: [Key] = []
    /// The requests for certificate and licenses, in the order of their replies.
    public var requests: [KeyEvent.HTTPSummary] = []
    /// The time from opening the stream to its last key.
    public var timeToKey = Duration.zero
    /// The start and the duration of decoding; `nil` if nothing was decoded.
    public internal(set) var decoding: (start: Date, length: Duration)?
    /// The decoder's output; `nil` if a key was missing.
    public var playback: PlaybackResult?
    /// Whether the output is right; `nil` if nothing was played.
    public var verdict: PlaybackVerdict?
    /// The number of played media playlists: a variant, and its audio if separate.
    public internal(set) var playlistCount = 0

    /// An empty report.
    init() {}

    /// A report of a stream in clear.
    /// - Parameters:
    ///   - playback: the decoder's output.
    ///   - playlists: the number of played media playlists.
    ///   - reference: the hashes of the stream, as the basis of the verdict.
    public init(clear playback: PlaybackResult, playlists: Int, reference: ReferenceHashes? = nil) {
        self.playback = playback
        playlistCount = playlists
        verdict = playback.verdict(against: reference)
    }

    /// One key of the stream.
    public struct Key: Sendable {
        /// The key's URI.
        public let uri: KeyURI
        /// The device's key, or the reason that it has none.
        public let outcome: Result<DeviceKey, any Error>
        /// The persistable key that the app must store instead of the started one; `nil` if that stays valid.
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

    /// Whether every key was delivered and all decoded output is right.
    public var isRight: Bool { failure == nil && verdict?.isRight == true }
}
