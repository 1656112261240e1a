/// The tags that the parser distinguishes.
///
/// Names are case-sensitive and must match completely: `#EXT-X-KEYS:` and `##EXT-X-KEY:` are not key tags (HLS.md rule 2).
///
/// Source: RFC 8216 §4.3, draft-pantos-hls-rfc8216bis §4.4, `Documentation/HLS.md` §7 rule 2.
enum PlaylistTag {
    case segmentDuration, key, sessionKey, define, map, stream, iFrameStream, rendition
    case byteRange, discontinuity, mediaSequence, endList, iFramesOnly, skip, dateRange, preloadHint
    case contentSteering
    /// Other tags of media playlists, without and with attributes.
    case media, mediaAttributes
    /// Other tags of multivariant playlists, with attributes.
    case multivariantAttributes

    /// The tag of a line that starts with `#`, with the position after its colon; `nil` for comments and unknown tags.
    @inline(__always)
    static func of(_ line: Bytes) -> (tag: PlaylistTag, body: Int)? {
        if line.hasPrefix("#EXTINF:") { return (.segmentDuration, 8) }
        guard line.hasPrefix("#EXT-X-") else { return nil }
        return named(line)
    }

    private static func named(_ line: Bytes) -> (tag: PlaylistTag, body: Int)? {
        let end = line.position(of: UInt8(ascii: ":"), from: 7) ?? line.count
        let name = line.part(7, end)
        for (candidate, tag) in names where name.equals(candidate) {
            return (tag, min(end + 1, line.count))
        }
        return nil
    }

    /// The most frequent tags come first.
    private static let names: [(StaticString, PlaylistTag)] = [
        ("KEY", .key), ("PROGRAM-DATE-TIME", .media), ("BYTERANGE", .byteRange), ("PART", .mediaAttributes),
        ("DISCONTINUITY", .discontinuity), ("MAP", .map), ("BITRATE", .media), ("GAP", .media),
        ("DATERANGE", .dateRange), ("SESSION-KEY", .sessionKey), ("DEFINE", .define), ("STREAM-INF", .stream),
        ("I-FRAME-STREAM-INF", .iFrameStream), ("MEDIA", .rendition), ("TARGETDURATION", .media),
        ("MEDIA-SEQUENCE", .mediaSequence), ("ENDLIST", .endList), ("SKIP", .skip),
        ("DISCONTINUITY-SEQUENCE", .media), ("PLAYLIST-TYPE", .media), ("I-FRAMES-ONLY", .iFramesOnly),
        ("PART-INF", .media), ("SERVER-CONTROL", .media), ("PRELOAD-HINT", .preloadHint),
        ("RENDITION-REPORT", .mediaAttributes), ("SESSION-DATA", .multivariantAttributes),
        ("CONTENT-STEERING", .contentSteering),
    ]

    /// The kind of playlist that may contain the tag; `nil` if both may.
    var belongs: PlaylistKind? {
        switch self {
        case .define: nil
        case .sessionKey, .stream, .iFrameStream, .rendition, .contentSteering, .multivariantAttributes: .multivariant
        default: .media
        }
    }
}
