public import Foundation
public import LatchkeyCore
public import LatchkeyHLS

/// The first segment that a key opens, still encrypted. It is enough to tell whether a content key is the right one.
public struct KeySample: Sendable {
    /// The key's URI.
    public let uri: KeyURI
    /// One track with one segment.
    public let copy: LocalCopy
    /// What the media states about its encryption; `nil` for transport streams and packed audio.
    public let protection: TrackProtection?
}

/// The result of trying a content key on a sample.
public enum KeySampleVerdict: Sendable, Hashable {
    /// The media decodes without a complaint.
    case right
    /// The media does not decode. The value is the decoder's first complaint.
    case wrong(complaint: String?)
    /// There is no decoder for the media, so the result is unknown.
    case undecidable(codec: String)
}

extension StreamDownload {
    /// Loads the first segment that a key opens.
    /// - Parameters:
    ///   - key: the key's URI as in the playlist.
    ///   - playlists: media playlists. The first that uses the key is taken.
    ///   - directory: the folder for the files. Created with mode 0700 if it does not exist.
    /// - Returns: `nil` if no segment of the playlists uses the key.
    /// - Throws: a `PlaylistError`, a `Diagnosis`, or an error of the resources.
    public func sample(of key: KeyURI, in playlists: [Playlist], into directory: URL) async throws -> KeySample? {
        let files = try WorkingFiles.made(at: directory)
        for playlist in playlists {
            guard let segment = try playlist.firstSegment(openedBy: key) else { continue }
            let track = try await TrackDownload(
                name: "sample", playlist: playlist, resources: resources, limits: limits,
                budget: ByteBudget(limits.totalBytes)
            ).load([segment], into: files)
            let protection = try TrackProtection.read(track, in: files)
            let copy = LocalCopy(directory: directory, tracks: [track], isComplete: false)
            return KeySample(uri: key, copy: copy, protection: protection)
        }
        return nil
    }
}

extension Playlist {
    fileprivate func firstSegment(openedBy key: KeyURI) throws -> MediaSegment? {
        let tags = keyTags.indices.filter { keyTags[$0].isFairPlay && keyTags[$0].uri == key }
        guard !tags.isEmpty else { return nil }
        return try segments().first { $0.keys.contains(where: tags.contains) }
    }
}

extension StreamPlayer {
    /// Tries a content key on a sample.
    /// - Throws: a `Diagnosis`, or a `CancellationError` after ending ffmpeg.
    public func verdict(on sample: KeySample, with key: ContentKey) async throws -> KeySampleVerdict {
        let result = try await play(sample.copy, keys: [sample.uri: key])
        guard !result.verdict().isRight else { return .right }
        let complaints = result.tracks.flatMap(\.complaints)
        let codec = result.tracks.lazy.map(\.codec).first { !$0.isEmpty } ?? ""
        let lacksDecoder = complaints.contains { line in
            ["Decoder", "not implemented", "not supported", "Unsupported"].contains { line.contains($0) }
        }
        return lacksDecoder ? .undecidable(codec: codec) : .wrong(complaint: complaints.first)
    }
}
