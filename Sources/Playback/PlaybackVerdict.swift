/// Whether what came out of a stream is right.
///
/// With reference hashes it is right when every sample and every picture equals the clear one: a proof. Without them it
/// is right when the decoder gave frames and complained about nothing, which is weaker: a decoder conceals damage, plays
/// a stream whose sound alone has the wrong key in silence, and cannot tell a wrong picture from a right one. ffmpeg's
/// exit status is not asked: it is 0 for many a wrong key.
///
/// Source: `media.md` §4.
public struct PlaybackVerdict: Sendable, Hashable {
    /// One for each track of the result, in its order.
    public let tracks: [TrackVerdict]

    /// Whether there is at least one track and all are right.
    public var isRight: Bool { !tracks.isEmpty && tracks.allSatisfy(\.isRight) }
}

/// Whether one track is right, and how much of it.
public struct TrackVerdict: Sendable, Hashable {
    /// What the track is.
    public let media: MediaKind
    /// How many of the samples are right; nil without a list to compare with.
    public let samples: Agreement?
    /// How many of the pictures are right; nil without a list to compare with.
    public let frames: Agreement?
    /// Whether the track is right by all that there is to go by.
    public let isRight: Bool

    /// What the verdict rests on.
    public var basis: Basis { samples == nil && frames == nil ? .decoder : .reference }

    /// What a verdict rests on.
    public enum Basis: String, Sendable, Hashable {
        /// Equal hashes.
        case reference
        /// A decoder that gave frames and did not complain.
        case decoder
    }
}

/// How far two lists of hashes agree, place by place.
public struct Agreement: Sendable, Hashable {
    /// Places at which both lists have the same hash.
    public let matching: Int
    /// Hashes that came out of the stream.
    public let found: Int
    /// Hashes of the clear stream.
    public let expected: Int

    init(_ found: [String], with expected: [String]) {
        matching = zip(found, expected).count { $0 == $1 }
        self.found = found.count
        self.expected = expected.count
    }

    /// Whether nothing is wrong, and nothing missing unless only a part was played.
    func isFull(of complete: Bool) -> Bool { found > 0 && matching == found && (found == expected || !complete) }
}

extension PlaybackResult {
    /// Compares with the clear stream.
    /// - Parameter reference: its hashes; nil for a verdict by the decoder alone.
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
                return TrackVerdict(media: track.media, samples: samples, frames: frames, isRight: isRight)
            })
    }
}
