public import Foundation
import LatchkeyCore

/// MD5 hashes of a clear stream, for comparison with a decrypted one.
///
/// Source: `Sources/LatchkeyMedia/DemoAsset/README.md`.
public struct ReferenceHashes: Sendable, Hashable, Codable {
    /// Samples as stored in MP4: length-prefixed NAL units.
    public var videoSamples: [String]
    /// Raw AAC frames.
    public var audioSamples: [String]
    /// Access units of the transport stream: Annex B, 4-byte start codes, with access unit delimiters.
    public var tsVideoAccessUnits: [String]
    /// Decoded pictures, yuv420p.
    public var videoFrames: [String]

    /// Creates hashes. Empty lists are not compared.
    public init(
        videoSamples: [String] = [], audioSamples: [String] = [], tsVideoAccessUnits: [String] = [],
        videoFrames: [String] = []
    ) {
        self.videoSamples = videoSamples
        self.audioSamples = audioSamples
        self.tsVideoAccessUnits = tsVideoAccessUnits
        self.videoFrames = videoFrames
    }

    /// - Parameter json: an object with some of the four lists.
    /// - Throws: `Diagnosis` `malformedReference`, also if all lists are missing.
    public init(json: Data) throws {
        guard let lists = try? JSONDecoder().decode([String: [String]].self, from: json) else {
            throw Diagnosis.malformedReference("not an object of lists of texts")
        }
        self.init(
            videoSamples: lists["videoSamples"] ?? [], audioSamples: lists["audioSamples"] ?? [],
            tsVideoAccessUnits: lists["tsVideoAccessUnits"] ?? [], videoFrames: lists["videoFrames"] ?? [])
        guard self != Self() else { throw Diagnosis.malformedReference("none of the lists is there") }
    }

    /// The expected samples of a track; `nil` without a list.
    ///
    /// A picture has different bytes in a transport stream and in MP4. Audio in a transport stream has ADTS headers, for which
    /// there is no list.
    func samples(of track: PlayedTrack) -> [String]? {
        let list =
            switch (track.media, track.container) {
            case (.video, .fragmentedMP4): videoSamples
            case (.video, .transportStream): tsVideoAccessUnits
            case (.audio, .fragmentedMP4): audioSamples
            case (.audio, .transportStream), (_, .packedAudio): [String]()
            }
        return list.isEmpty ? nil : list
    }

    /// The expected pictures of a track; `nil` for audio, because audio decoders round differently.
    func frames(of track: PlayedTrack) -> [String]? {
        track.media == .video && !videoFrames.isEmpty ? videoFrames : nil
    }
}
