public import Foundation

/// MD5 hashes of a clear stream, to compare a decrypted one with.
///
/// Source: `Sources/Simulation/DemoAsset/README.md`.
public struct ReferenceHashes: Sendable, Hashable, Codable {
    /// Samples as stored in MP4: length-prefixed NAL units.
    public var videoSamples: [String]
    /// Raw AAC frames.
    public var audioSamples: [String]
    /// Access units of the transport stream: Annex B, 4-byte start codes, with delimiter.
    public var tsVideoAccessUnits: [String]
    /// Decoded pictures, yuv420p.
    public var videoFrames: [String]

    /// Lists that stay empty are not compared.
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
    /// - Throws: `PlaybackError` `malformedReference`, also when none of the lists is there.
    public init(json: Data) throws {
        guard let lists = try? JSONDecoder().decode([String: [String]].self, from: json) else {
            throw PlaybackError.malformedReference("not an object of lists of texts")
        }
        self.init(
            videoSamples: lists["videoSamples"] ?? [], audioSamples: lists["audioSamples"] ?? [],
            tsVideoAccessUnits: lists["tsVideoAccessUnits"] ?? [], videoFrames: lists["videoFrames"] ?? [])
        guard self != Self() else { throw PlaybackError.malformedReference("none of the lists is there") }
    }

    /// The samples that a track should have; nil where there is nothing to compare with.
    ///
    /// One picture has other bytes in a transport stream than in MP4. Sound in a transport stream carries ADTS headers,
    /// which no list has.
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

    /// The pictures that a track should have; nil for sound, whose decoders differ in rounding.
    func frames(of track: PlayedTrack) -> [String]? {
        track.media == .video && !videoFrames.isEmpty ? videoFrames : nil
    }
}
