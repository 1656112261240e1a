import Foundation

extension Playlist {
    /// Lists the segments of a media playlist in order; empty for a multivariant playlist.
    ///
    /// This is a second pass, for players. Finding keys does not need it.
    ///
    /// - Throws: a `PlaylistError` for a malformed EXT-X-MAP or EXT-X-BYTERANGE, or for more segments than the limit.
    /// - Complexity: linear in the number of bytes.
    public func segments() throws(PlaylistError) -> [MediaSegment] {
        guard kind == .media else { return [] }
        var reader = SegmentReader(self)
        let refusal = source.withUnsafeBytes { bytes -> PlaylistError? in
            do throws(PlaylistError) {
                try reader.read(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
        return reader.segments
    }
}

/// Lists the segments of a playlist that `PlaylistReader` accepted, so all key tags and variables are known.
private struct SegmentReader {
    private(set) var segments: [MediaSegment] = []
    private let playlist: Playlist
    private var variables: Substitution
    private var inForce = KeysInForce()
    private var keyTagsSeen = 0
    private var map: MediaMap?
    private var duration: Double?
    private var range: (length: Int, offset: Int?)?
    private var followsDiscontinuity = false

    private var limits: PlaylistLimits { playlist.context.limits }

    init(_ playlist: Playlist) {
        self.playlist = playlist
        keyTagsSeen = playlist.inherited.tagCount
        variables = Substitution(playlist.variables, limits: playlist.context.limits)
    }

    mutating func read(_ bytes: Bytes) throws(PlaylistError) {
        guard playlist.segmentCount <= limits.listedSegments else { throw .limit("segments", limits.listedSegments) }
        segments.reserveCapacity(playlist.segmentCount)
        var lines = LineScanner(bytes)
        while let line = lines.next() {
            if line.byte(at: 0) != UInt8(ascii: "#") {
                if !line.trimmed.isEmpty { try append(line, lines.number) }
            } else if let (tag, body) = PlaylistTag.of(line) {
                try read(tag, line.from(body), lines.number)
            }
        }
    }

    private mutating func read(_ tag: PlaylistTag, _ body: Bytes, _ number: Int) throws(PlaylistError) {
        switch tag {
        case .segmentDuration:
            let seconds = Double(body.part(0, body.position(of: .comma) ?? body.count).trimmed.text)
            duration = seconds.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        case .byteRange: range = try byteRange(body.text, number)
        case .discontinuity: followsDiscontinuity = true
        case .map: map = try readMap(AttributeList(body, line: number, limit: limits.attributesPerTag))
        case .skip: try inForce.inherit(playlist.inherited, from: playlist.keyTags, limits: limits)
        case .key:
            guard playlist.keyTags.indices.contains(keyTagsSeen) else { return }
            try inForce.apply(playlist.keyTags[keyTagsSeen], index: keyTagsSeen, limits: limits)
            keyTagsSeen += 1
        default: break
        }
    }

    private mutating func append(_ line: Bytes, _ number: Int) throws(PlaylistError) {
        let uri = playlist.resolve(try variables.text(of: line, line: number))
        let segment = MediaSegment(
            uri: uri, byteRange: try partRead(of: uri, number), duration: duration,
            sequenceNumber: playlist.mediaSequence &+ playlist.skippedSegments &+ segments.count,
            followsDiscontinuity: followsDiscontinuity,
            map: map, keys: inForce.indexes, line: number)
        segments.append(segment)
        (duration, range, followsDiscontinuity) = (nil, nil, false)
    }

    /// A range without an offset continues where the previous segment of the same resource ends.
    private func partRead(of uri: String, _ number: Int) throws(PlaylistError) -> ByteRange? {
        guard let range else { return nil }
        if let offset = range.offset { return ByteRange(offset: offset, length: range.length) }
        guard let last = segments.last, last.uri == uri, let before = last.byteRange else {
            throw PlaylistError(.malformedSegment, line: number, "EXT-X-BYTERANGE needs an offset here")
        }
        let (offset, overflows) = before.offset.addingReportingOverflow(before.length)
        guard !overflows else { throw Self.malformedRange(number) }
        return ByteRange(offset: offset, length: range.length)
    }

    private mutating func readMap(_ attributes: AttributeList) throws(PlaylistError) -> MediaMap {
        guard let uri = try attributes.text("URI", &variables), !uri.isEmpty else {
            throw PlaylistError(.missingAttribute, line: attributes.line, "EXT-X-MAP without URI")
        }
        var part: ByteRange?
        if let text = try attributes.text("BYTERANGE", &variables) {
            let (length, offset) = try byteRange(text, attributes.line)
            part = ByteRange(offset: offset ?? 0, length: length)
        }
        return MediaMap(uri: playlist.resolve(uri), byteRange: part, keys: inForce.indexes, line: attributes.line)
    }

    /// `length` or `length@offset`.
    private func byteRange(_ text: String, _ number: Int) throws(PlaylistError) -> (length: Int, offset: Int?) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0 >= 0 }) else { throw Self.malformedRange(number) }
        let offset = parts.count > 1 ? parts[1] : nil
        guard parts[0] <= Int.max - (offset ?? 0) else { throw Self.malformedRange(number) }
        return (parts[0], offset)
    }

    private static func malformedRange(_ number: Int) -> PlaylistError {
        PlaylistError(.malformedSegment, line: number, "a byte range is not length@offset")
    }
}
