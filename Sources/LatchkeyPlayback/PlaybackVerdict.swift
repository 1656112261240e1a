/// Whether the output of playing a stream is right.
///
/// With reference hashes, it is right if every sample and every picture equals the clear one, which is proof. Without them, it
/// is right if the decoder gave frames and no complaints, which is weaker: a decoder conceals damage, plays a stream silently
/// if only the audio has the wrong key, and cannot distinguish a wrong picture from a right one. ffmpeg's exit status is
/// ignored, because it is 0 for many wrong keys.
///
/// Source: `Documentation/Media.md` §4.
public struct PlaybackVerdict: Sendable, Hashable {
    /// One for each track of the result, in order.
    public let tracks: [TrackVerdict]

    /// Whether there is at least one track and all are right.
    public var isRight: Bool { !tracks.isEmpty && tracks.allSatisfy(\.isRight) }
}

/// Whether one track is right.
public struct TrackVerdict: Sendable, Hashable {
    /// The kind of the track.
    public let media: MediaKind
    /// The number of right samples; `nil` without reference hashes.
    public let samples: Agreement?
    /// The number of right pictures; `nil` without reference hashes.
    public let frames: Agreement?
    /// Whether the track is right, by all available evidence.
    public let isRight: Bool

    /// The basis of the verdict.
    public var basis: Basis { samples == nil && frames == nil ? .decoder : .reference }

    /// The basis of a verdict.
    public enum Basis: String, Sendable, Hashable {
        /// Equal hashes.
        case reference
        /// The decoder gave frames and did not complain.
        case decoder
    }
}

/// The agreement of two lists of hashes, position by position.
public struct Agreement: Sendable, Hashable {
    /// The number of positions with the same hash in both lists.
    public let matching: Int
    /// The number of hashes from the stream.
    public let found: Int
    /// The number of hashes of the clear stream.
    public let expected: Int

    init(_ found: [String], with expected: [String]) {
        matching = zip(found, expected).count { $0 == $1 }
        self.found = found.count
        self.expected = expected.count
    }

    /// Whether all hashes match and, unless only a part was played, none is missing.
    func isFull(of complete: Bool) -> Bool { found > 0 && matching == found && (found == expected || !complete) }
}

extension PlaybackResult {
    /// Compares the result with the clear stream.
    /// - Parameter reference: the hashes of the clear stream; `nil` for a verdict based on the decoder.
    public func verdict(against reference: ReferenceHashes? = nil) -> PlaybackVerdict {
        PlaybackVerdict(
            tracks: tracks.map { track in
                let samples = reference?.samples(of: track).map { Agreement(track.samples, with: $0) }
                let frames = reference?.frames(of: track).map { Agreement(track.frames, with: $0) }
                let agreements = [samples, frames].compactMap { $0 }
                let isRight =
                    agreements.isEmpty
                    ? !track.frames.isEmpty && track.complaintCount == 0
                    : agreements.allSatisfy { $0.isFull(of: isComplete) }
                let isTaken = !track.findings.contains { $0.rule.severity == .error }
                return TrackVerdict(media: track.media, samples: samples, frames: frames, isRight: isRight && isTaken)
            })
    }
}
