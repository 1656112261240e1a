/// Consecutive segments with the same keys.
public struct SegmentRun: Sendable, Hashable, Encodable {
    /// The index of the first segment in the playlist.
    public let first: Int
    /// The number of segments.
    public internal(set) var count: Int
    /// The indexes into `Playlist.keyTags` in force, ascending; empty for clear segments. The tags are alternatives: each of them
    /// yields the same content key, through its own key system (HLS.md rule 6).
    public let keys: [Int]
}

/// The key tags in force while a playlist is parsed, one per KEYFORMAT, and the runs so far.
///
/// Source: RFC 8216 §4.3.2.4 and §6.2.3, `Documentation/HLS.md` §7 rules 5 to 8 and 10.
struct KeysInForce {
    /// The number of segments so far.
    var segments = 0
    private(set) var runs: [SegmentRun] = []
    /// Ascending, because a replaced tag is removed and the new one is appended.
    private(set) var indexes: [Int] = []
    private var formats: [KeyFormat] = []
    private var runStart = 0
    /// The number of keys that the runs list so far.
    private var listed = 0

    /// Applies a tag that follows the segments so far. It replaces only the tag with the same KEYFORMAT (HLS.md rule 5);
    /// METHOD=NONE has no KEYFORMAT and ends all of them (HLS.md rule 7).
    mutating func apply(_ tag: KeyTag, index: Int, limits: PlaylistLimits) throws(PlaylistError) {
        endRun()
        guard listed <= limits.keysOfRuns else {
            throw .limit("keys of runs of segments", limits.keysOfRuns, line: tag.line)
        }
        guard tag.method != .none else {
            indexes = []
            formats = []
            return
        }
        if let old = formats.firstIndex(of: tag.format) {
            indexes.remove(at: old)
            formats.remove(at: old)
        }
        guard formats.count < limits.keyFormatsInForce else {
            throw .limit("key formats in force", limits.keyFormatsInForce, line: tag.line)
        }
        indexes.append(index)
        formats.append(tag.format)
    }

    /// Applies the keys of skipped segments.
    mutating func inherit(_ inherited: InheritedKeys, from tags: [KeyTag], limits: PlaylistLimits) throws(PlaylistError)
    {
        for index in inherited.inForce where tags.indices.contains(index) {
            try apply(tags[index], index: index, limits: limits)
        }
    }

    /// Ends the current run at the last segment so far.
    mutating func endRun() {
        let count = segments - runStart
        guard count > 0 else { return }
        if runs.last?.keys == indexes {
            runs[runs.count - 1].count += count
        } else {
            runs.append(SegmentRun(first: runStart, count: count, keys: indexes))
            listed += indexes.count
        }
        runStart = segments
    }
}
