/// Consecutive segments that the same keys open.
public struct SegmentRun: Sendable, Hashable, Encodable {
    /// The first segment, counted from 0 within the playlist.
    public let first: Int
    /// How many segments.
    public internal(set) var count: Int
    /// The indexes into `Playlist.keyTags` in force, ascending; none for clear segments. They are alternatives: every
    /// one of them yields the same key, through its own key system (rule 6).
    public let keys: [Int]
}

/// The key tags in force while a playlist is read, one per KEYFORMAT, and the runs that they have made.
///
/// Source: RFC 8216 §4.3.2.4 and §6.2.3, `media.md` §7 rules 5 to 8 and 10.
struct KeysInForce {
    /// Segments read.
    var segments = 0
    private(set) var runs: [SegmentRun] = []
    /// Ascending, because a replaced tag leaves its place and the new one goes to the end.
    private(set) var indexes: [Int] = []
    private var formats: [KeyFormat] = []
    private var runStart = 0

    /// Takes a tag that stands behind the segments read so far. It replaces only the tag of its own KEYFORMAT (rule 5);
    /// METHOD=NONE ends them all, since it names none (rule 7).
    mutating func apply(_ tag: KeyTag, index: Int, limits: PlaylistLimits) throws(PlaylistError) {
        endRun()
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

    /// Writes down the run that ends with the segments read so far.
    mutating func endRun() {
        let count = segments - runStart
        guard count > 0 else { return }
        if runs.last?.keys == indexes {
            runs[runs.count - 1].count += count
        } else {
            runs.append(SegmentRun(first: runStart, count: count, keys: indexes))
        }
        runStart = segments
    }
}
