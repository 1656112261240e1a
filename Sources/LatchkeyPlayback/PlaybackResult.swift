public import Foundation

/// The output of playing a stream: samples, decoded frames, complaints and a picture.
///
/// A `PlaybackVerdict` says whether it is right.
public struct PlaybackResult: Sendable {
    /// One for each video and audio stream; at least one.
    public let tracks: [PlayedTrack]
    /// The file of the picture; `nil` if none was requested or none could be decoded.
    public let picture: URL?
    /// Whether the whole stream was played; `false` if a download limit cut it off.
    public let isComplete: Bool

    /// The rules of Apple's players that the stream breaks, each once.
    public var findings: [StreamFinding] {
        tracks.flatMap(\.findings).reduce(into: []) { found, next in
            if !found.contains(where: { $0.rule == next.rule }) { found.append(next) }
        }
    }

    /// - Parameters:
    ///   - tracks: the output of each stream.
    ///   - picture: the file of the picture.
    ///   - isComplete: whether the whole stream was played.
    public init(tracks: [PlayedTrack], picture: URL? = nil, isComplete: Bool = true) {
        self.tracks = tracks
        self.picture = picture
        self.isComplete = isComplete
    }
}

/// The output of playing one video or audio stream.
public struct PlayedTrack: Sendable, Hashable {
    /// The kind of the stream.
    public let media: MediaKind
    /// The container format.
    public let container: ContainerKind
    /// ffmpeg's name for its codec; empty if ffmpeg found none.
    public internal(set) var codec = ""
    /// The MD5 of every decrypted sample as in the container.
    public internal(set) var samples: [String] = []
    /// The MD5 of every decoded picture in yuv420p, or of every decoded frame of audio.
    public internal(set) var frames: [String] = []
    /// The first 20 lines of ffmpeg's complaints.
    public internal(set) var complaints: [String] = []
    /// The number of lines of ffmpeg's complaints.
    public internal(set) var complaintCount = 0

    /// The rules of Apple's players that its segments break, independent of the decoder's result.
    public internal(set) var findings: [StreamFinding] = []

    /// - Parameters:
    ///   - media: the kind of the stream.
    ///   - container: the container format.
    public init(_ media: MediaKind, in container: ContainerKind) {
        self.media = media
        self.container = container
    }

    /// A track from a stream's sample hashes.
    init(_ samples: FrameHashes, in container: ContainerKind) {
        self.init(samples.media, in: container)
        codec = samples.codec
        self.samples = samples.hashes
    }

    mutating func add(complaints lines: [String]) {
        complaints += lines.prefix(20 - complaints.count)
        complaintCount += lines.count
    }

    /// Appends the output of a later run.
    mutating func append(_ piece: PlayedTrack) {
        if codec.isEmpty { codec = piece.codec }
        samples += piece.samples
        frames += piece.frames
        complaints += piece.complaints.prefix(20 - complaints.count)
        complaintCount += piece.complaintCount
        add(piece.findings)
    }

    /// Adds findings, one for each rule.
    mutating func add(_ found: [StreamFinding]) {
        for finding in found where !findings.contains(where: { $0.rule == finding.rule }) { findings.append(finding) }
    }
}
