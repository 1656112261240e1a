public import LatchkeyCore
public import LatchkeyHLS

/// The segments of a stream to test its keys with: per media playlist, one segment for each key tag in force, init section and
/// period. A segment of one rendition proves nothing about the others.
public struct SamplePlan: Sendable {
    /// A segment to try.
    public struct Place: Sendable {
        /// The media playlist.
        public let playlist: Playlist
        /// The segment.
        public let segment: MediaSegment
        /// The FairPlay key in force; `nil` if the segment is in clear.
        public let key: KeyURI?
    }

    /// The places: the first of each playlist, then the second of each, and so on.
    public let places: [Place]
    /// The number of places beyond the limit.
    public let leftOut: Int
    /// The playlists with segments that only other key systems' keys open.
    public let foreign: [Playlist]

    /// - Parameters:
    ///   - playlists: media playlists.
    ///   - limit: the number of places.
    ///   - isWanted: whether to include segments with a key, or in clear.
    /// - Throws: a `PlaylistError` for segments that cannot be listed.
    public init(
        _ playlists: [Playlist], limit: Int, isWanted: (KeyURI?) -> Bool = { _ in true }
    ) throws(PlaylistError) {
        var columns: [[Place]] = []
        var foreign: [Playlist] = []
        for playlist in playlists {
            var isForeign = false
            let places = try Self.places(of: playlist, &isForeign).filter { isWanted($0.key) }
            columns.append(places)
            if isForeign { foreign.append(playlist) }
        }
        let rows = (0..<(columns.map(\.count).max() ?? 0)).flatMap { row in
            columns.compactMap { $0.indices.contains(row) ? $0[row] : nil }
        }
        places = Array(rows.prefix(limit))
        leftOut = rows.count - places.count
        self.foreign = foreign
    }

    private struct Kind: Hashable {
        let tag: Int?
        let map: String?
        let period: Int
    }

    private static func places(of playlist: Playlist, _ isForeign: inout Bool) throws(PlaylistError) -> [Place] {
        var places: [Place] = []
        var indexes: [Kind: Int] = [:]
        var period = 0
        for segment in try playlist.segments() {
            if segment.followsDiscontinuity { period += 1 }
            let tag = segment.keys.last { playlist.keyTags.indices.contains($0) && playlist.keyTags[$0].isFairPlay }
            if tag == nil, !segment.keys.isEmpty {
                isForeign = true
                continue
            }
            let place = Place(playlist: playlist, segment: segment, key: tag.flatMap { playlist.keyTags[$0].uri })
            let map = segment.map.map { "\($0.uri) \($0.byteRange?.offset ?? -1)" }
            let kind = Kind(tag: tag, map: map, period: period)
            guard let index = indexes[kind] else {
                indexes[kind] = places.count
                places.append(place)
                continue
            }
            // The oldest segment of a live playlist may expire before it is requested.
            if !playlist.isComplete { places[index] = place }
        }
        return places
    }
}
