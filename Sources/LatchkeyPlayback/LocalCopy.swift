public import Foundation
public import LatchkeyCore

/// A stream, or its first part, as files in a folder. Still encrypted.
public struct LocalCopy: Sendable {
    /// The folder that holds every file.
    public let directory: URL
    /// The chosen variant, then its audio rendition if it has one.
    public let tracks: [LocalTrack]
    /// Whether the copy has the whole stream; `false` if a limit cut it off.
    public let isComplete: Bool

    /// - Parameters:
    ///   - directory: the folder that holds every file.
    ///   - tracks: the tracks, with the names of files in the folder.
    ///   - isComplete: whether nothing was cut off.
    public init(directory: URL, tracks: [LocalTrack], isComplete: Bool = true) {
        self.directory = directory
        self.tracks = tracks
        self.isComplete = isComplete
    }

    /// The URIs of the keys that playback needs, each once, in order of first use.
    ///
    /// For a segment with several key systems, it is the URI of the FairPlay key.
    public var keyURIs: [KeyURI] {
        var seen: Set<KeyURI> = []
        return tracks.flatMap(\.segments).compactMap { $0.keyURIs.first }.filter { seen.insert($0).inserted }
    }
}

/// The segments of one media playlist.
public struct LocalTrack: Sendable {
    /// The role of the track in the stream: `main` or `audio`. Part of its file names.
    public let name: String
    /// The container format of its segments.
    public let container: ContainerKind
    /// At least one segment, in playback order.
    public let segments: [LocalSegment]

    /// - Parameters:
    ///   - name: letters, digits and dashes.
    ///   - container: the container format of all segments.
    ///   - segments: the segments in playback order.
    public init(name: String, container: ContainerKind, segments: [LocalSegment]) {
        self.name = name
        self.container = container
        self.segments = segments
    }
}

/// One segment in its own file.
public struct LocalSegment: Sendable, Hashable {
    /// The name of the segment's file.
    public var file: String
    /// The name of the init section's file; `nil` if the container has none.
    public var initialization: String?
    /// The duration in seconds, as in the playlist.
    public var duration: Double
    /// The encryption of the segment; `nil` if it is in clear.
    public var method: Encryption?
    /// The alternative keys of the segment, FairPlay's first; empty if it is not encrypted.
    public var keyURIs: [KeyURI]
    /// Whether timestamps or codecs may change before the segment.
    public var isDiscontinuous: Bool

    /// - Parameters:
    ///   - file: the name of the segment's file.
    ///   - initialization: the name of the init section's file.
    ///   - duration: the duration in seconds.
    ///   - method: the encryption of the segment.
    ///   - keyURIs: the alternative keys of the segment.
    ///   - isDiscontinuous: whether timestamps or codecs may change before the segment.
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

    /// The encryption of a segment, in the detail that a decoder needs.
    public enum Encryption: String, Sendable, Hashable {
        /// The whole file is one AES-128-CBC stream.
        case wholeSegment = "AES-128"
        /// The samples are encrypted, as the container states. Also used for SAMPLE-AES-CTR.
        case samples = "SAMPLE-AES"
    }
}
