public import Foundation

/// What came out of a stream: samples, decoded frames, complaints and a picture.
///
/// Says nothing about right or wrong; that is `PlaybackVerdict`.
public struct PlaybackResult: Sendable {
    /// One for each video and audio stream that was found; at least one.
    public let tracks: [PlayedTrack]
    /// Where the picture is; nil when none was asked for or none could be decoded.
    public let picture: URL?
    /// Whether the whole stream was played; false when a download limit cut it off.
    public let isComplete: Bool

    /// - Parameters:
    ///   - tracks: what was found.
    ///   - picture: where the picture is.
    ///   - isComplete: whether the whole stream was played.
    public init(tracks: [PlayedTrack], picture: URL? = nil, isComplete: Bool = true) {
        self.tracks = tracks
        self.picture = picture
        self.isComplete = isComplete
    }
}

/// What came out of one video or audio stream.
public struct PlayedTrack: Sendable, Hashable {
    /// What it is.
    public let media: MediaKind
    /// How it was wrapped.
    public let container: ContainerKind
    /// ffmpeg's name of its codec; empty when ffmpeg found nothing.
    public internal(set) var codec = ""
    /// MD5 of every decrypted sample as it lies in the container.
    public internal(set) var samples: [String] = []
    /// MD5 of every decoded picture as yuv420p, or of every decoded frame of sound.
    public internal(set) var frames: [String] = []
    /// What ffmpeg complained about; the first 20 lines.
    public internal(set) var complaints: [String] = []
    /// How many lines it complained in.
    public internal(set) var complaintCount = 0

    /// - Parameters:
    ///   - media: what it is.
    ///   - container: how it was wrapped.
    public init(_ media: MediaKind, in container: ContainerKind) {
        self.media = media
        self.container = container
    }

    mutating func add(complaints lines: [String]) {
        complaints += lines.prefix(20 - complaints.count)
        complaintCount += lines.count
    }

    /// Adds what came out of a later stretch.
    mutating func append(_ piece: PlayedTrack) {
        if codec.isEmpty { codec = piece.codec }
        samples += piece.samples
        frames += piece.frames
        complaints += piece.complaints.prefix(20 - complaints.count)
        complaintCount += piece.complaintCount
    }
}
