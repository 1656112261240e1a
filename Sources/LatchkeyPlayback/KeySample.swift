public import Foundation
public import LatchkeyCore
import LatchkeyHLS

/// A segment, still encrypted, which is enough to test a content key.
public struct KeySample: Sendable {
    /// The key's URI; `nil` if no key is in force.
    public let uri: KeyURI?
    /// One track with one segment.
    public let copy: LocalCopy
    /// Whether the media is encrypted, as its container states; `nil` if not stated.
    public let isEncrypted: Bool?
    /// Whether it is one picture out of a segment, which a decoder cannot read alone.
    public let isPicture: Bool
    /// The statements of its container; `nil` if all bytes are encrypted.
    let facts: SegmentFacts?

    /// The stated encryption of each track; empty for transport streams and packed audio.
    public var protections: [TrackProtection] { facts?.tracks ?? [] }

    /// The rules of Apple's players that the segment breaks. Nothing is decoded.
    /// - Parameter key: the license's key; `nil` without a license.
    public func findings(with key: ContentKey?) -> [StreamFinding] {
        guard uri != nil, var facts else { return [] }
        facts.licensedIV = key?.iv.revealed
        return facts.findings
    }
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
    /// Loads the segment of a place.
    /// - Parameters:
    ///   - place: a place of a `SamplePlan`.
    ///   - directory: the folder for the files. Created with mode 0700 if it does not exist.
    /// - Throws: a `PlaylistError`, a `Diagnosis`, or an error of the resources.
    public func sample(at place: SamplePlan.Place, into directory: URL) async throws -> KeySample {
        let files = try WorkingFiles.made(at: directory)
        let playlist = place.playlist
        let track = try await TrackDownload(
            name: "sample", playlist: playlist, resources: resources, limits: limits,
            budget: ByteBudget(limits.totalBytes)
        ).load([place.segment], into: files)
        let facts = try SegmentFacts(of: track, in: files, isCut: playlist.hasOnlyIFrames)
        return KeySample(
            uri: place.key, copy: LocalCopy(directory: directory, tracks: [track], isComplete: false),
            isEncrypted: try facts?.isEncrypted ?? Self.isEncryptedAsWhole(track, in: files),
            isPicture: playlist.hasOnlyIFrames, facts: facts)
    }

    /// A resource that is encrypted as a whole shows no container.
    private static func isEncryptedAsWhole(_ track: LocalTrack, in files: WorkingFiles) throws -> Bool? {
        guard let segment = track.segments.first, segment.method == .wholeSegment else { return nil }
        return try ContainerKind(segment: files.read(segment.file)) == nil
    }
}

extension SegmentFacts {
    /// The statements of a track's first segment; `nil` if all its bytes are encrypted.
    fileprivate init?(of track: LocalTrack, in files: WorkingFiles, isCut: Bool) throws {
        guard let segment = track.segments.first, segment.method != .wholeSegment else { return nil }
        try self.init(segment, in: track.container, from: files, isCut: isCut)
    }
}

extension StreamPlayer {
    /// Tries a content key on a sample.
    /// - Parameters:
    ///   - sample: a segment that the key should open.
    ///   - key: the content key; `nil` to decode the sample unchanged.
    /// - Throws: a `Diagnosis`, or a `CancellationError` after ending ffmpeg.
    public func verdict(on sample: KeySample, with key: ContentKey?) async throws -> KeySampleVerdict {
        var keys: [KeyURI: ContentKey] = [:]
        if let uri = sample.uri { keys[uri] = key }
        let result = try await unjudged.play(key == nil ? sample.copy.inClear : sample.copy, keys: keys)
        guard !result.verdict().isRight else { return .right }
        let complaints = result.tracks.flatMap(\.complaints)
        let codec = result.tracks.lazy.map(\.codec).first { !$0.isEmpty } ?? ""
        let lacksDecoder = complaints.contains { line in
            ["Decoder", "not implemented", "not supported", "Unsupported"].contains { line.contains($0) }
        }
        return lacksDecoder ? .undecidable(codec: codec) : .wrong(complaint: complaints.first)
    }
}

extension LocalCopy {
    /// The same copy without keys.
    fileprivate var inClear: LocalCopy {
        let tracks = tracks.map { track in
            let segments = track.segments.map { segment in
                var segment = segment
                (segment.method, segment.keyURIs) = (nil, [])
                return segment
            }
            return LocalTrack(name: track.name, container: track.container, segments: segments)
        }
        return LocalCopy(directory: directory, tracks: tracks, isComplete: isComplete)
    }
}
