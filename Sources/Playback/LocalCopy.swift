public import Foundation
public import LatchkeyCore

/// A stream, or the first part of one, as files in a folder. Still encrypted.
public struct LocalCopy: Sendable {
    /// The folder that holds every file.
    public let directory: URL
    /// The chosen variant, then its audio rendition if it has one of its own.
    public let tracks: [LocalTrack]
    /// Whether the whole stream is there; false when a limit cut it off.
    public let isComplete: Bool

    /// - Parameters:
    ///   - directory: the folder that holds every file.
    ///   - tracks: the tracks, with names of files in the folder.
    ///   - isComplete: whether nothing was cut off.
    public init(directory: URL, tracks: [LocalTrack], isComplete: Bool = true) {
        self.directory = directory
        self.tracks = tracks
        self.isComplete = isComplete
    }

    /// The URIs of the keys that playing takes, each once, in the order of their first use.
    ///
    /// Where a segment offers several key systems it is FairPlay's.
    public var keyURIs: [KeyURI] {
        var seen: Set<KeyURI> = []
        return tracks.flatMap(\.segments).compactMap { $0.keyURIs.first }.filter { seen.insert($0).inserted }
    }
}

/// The segments of one media playlist.
public struct LocalTrack: Sendable {
    /// What the track is in its stream: `main` or `audio`. Part of the names of its files.
    public let name: String
    /// How its segments are wrapped.
    public let container: ContainerKind
    /// At least one segment, in the order of play.
    public let segments: [LocalSegment]

    /// - Parameters:
    ///   - name: letters, digits and dashes.
    ///   - container: how all segments are wrapped.
    ///   - segments: the segments in the order of play.
    public init(name: String, container: ContainerKind, segments: [LocalSegment]) {
        self.name = name
        self.container = container
        self.segments = segments
    }
}

/// One segment in a file of its own.
public struct LocalSegment: Sendable, Hashable {
    /// The name of its file.
    public var file: String
    /// The name of the file of its init section; nil where the container has none.
    public var initialization: String?
    /// Seconds, as the playlist states them.
    public var duration: Double
    /// How it is encrypted, and nil where it is not.
    public var method: Encryption?
    /// The alternatives that open it, FairPlay's first; empty where it is not encrypted.
    public var keyURIs: [KeyURI]
    /// Whether timestamps or codecs may change in front of it.
    public var isDiscontinuous: Bool

    /// - Parameters:
    ///   - file: the name of its file.
    ///   - initialization: the name of the file of its init section.
    ///   - duration: seconds.
    ///   - method: how it is encrypted.
    ///   - keyURIs: the alternatives that open it.
    ///   - isDiscontinuous: whether something may change in front of it.
    public init(
        file: String, initialization: String? = nil, duration: Double, method: Encryption? = nil,
        keyURIs: [KeyURI] = [], isDiscontinuous: Bool = false
    ) {
        self.file = file
        self.initialization = initialization
        self.duration = duration
        self.method = method
        self.keyURIs = keyURIs
        self.isDiscontinuous = isDiscontinuous
    }

    /// How a segment is encrypted, as far as a decoder has to be told.
    public enum Encryption: String, Sendable, Hashable {
        /// The whole file is one AES-128-CBC stream.
        case wholeSegment = "AES-128"
        /// Samples are encrypted, in the way that the container states. Stands for SAMPLE-AES-CTR too.
        case samples = "SAMPLE-AES"
    }
}
