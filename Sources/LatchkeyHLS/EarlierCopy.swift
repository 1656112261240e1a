/// The previous copy of a live playlist, which has the keys of the segments that a delta update skips.
///
/// Source: draft-pantos-hls-rfc8216bis §4.4.5.2 and §6.2.5.1, `Documentation/HLS.md` §7 rule 9.
public struct EarlierCopy: Sendable, Hashable {
    let mediaSequence: Int
    let segmentCount: Int
    let runs: [SegmentRun]
    let keyTags: [KeyTag]

    /// - Parameter playlist: the media playlist as last loaded. It may be complete or a delta update.
    public init(_ playlist: Playlist) {
        mediaSequence = playlist.mediaSequence
        segmentCount = playlist.skippedSegments + playlist.segmentCount
        keyTags = playlist.keyTags
        let skipped = playlist.inherited.runs
        let listed = playlist.segmentRuns.map { run in
            SegmentRun(first: run.first + playlist.skippedSegments, count: run.count, keys: run.keys)
        }
        runs = skipped + listed
    }

    /// The runs of a range of segments, counted from the first of them; `nil` if the copy lacks any of them.
    /// - Parameters:
    ///   - sequence: the media sequence number of the first segment.
    ///   - count: the number of segments.
    func runs(from sequence: Int, count: Int) -> [SegmentRun]? {
        let (first, overflows) = sequence.subtractingReportingOverflow(mediaSequence)
        guard !overflows, first >= 0, count >= 0, count <= segmentCount, first <= segmentCount - count else {
            return nil
        }
        return runs.compactMap { run in
            let start = max(run.first, first)
            let end = min(run.first + run.count, first + count)
            return start < end ? SegmentRun(first: start - first, count: end - start, keys: run.keys) : nil
        }
    }
}

/// The keys that a delta update inherits from the previous copy.
struct InheritedKeys: Sendable, Hashable {
    /// The number of the playlist's first key tags that are inherited.
    var tagCount = 0
    /// The runs of the skipped segments. They refer to key tags of this playlist.
    var runs: [SegmentRun] = []

    /// The keys of the last skipped segment, which stay in force.
    var inForce: [Int] { runs.last?.keys ?? [] }
}
