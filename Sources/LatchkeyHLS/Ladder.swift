import LatchkeyCore

/// Media playlists of one class. Only as many are read as are needed to distinguish their keys.
///
/// A class groups playlists by the properties by which packagers assign keys: the group of a rendition; the codecs and the
/// stated protection of a variant. Within a class, ordered by quality, packagers assign each key to a contiguous run. If both
/// ends have the same keys, so do all playlists between them; if they differ, the playlist halfway between narrows it down.
///
/// Source: `Documentation/HLS.md` §7 rule 23.
struct Ladder: Sendable {
    enum Reading: Hashable {
        case keys(Set<KeyURI>)
        /// The playlist could not be read.
        case failed
    }

    /// Ordered by picture size and bandwidth; rendition groups keep the playlist's order.
    private(set) var uris: [String]
    private var backups: [ArraySlice<String>]
    private var readings: [Int: Reading] = [:]
    /// The playlists whose backup is read next.
    private var failed: Set<Int> = []

    /// - Parameter rungs: the playlists in their order, each with its backups behind it.
    init(_ rungs: [[String]]) {
        uris = rungs.compactMap(\.first)
        backups = rungs.map { $0.dropFirst() }
    }

    /// The playlists to read next: the ends first, then halfway between neighbors with different keys.
    /// - Parameter listed: the session keys. If two neighbors have only listed keys, the playlists between them are skipped:
    ///   the stream lists its keys. `nil` means that every playlist must be read.
    func next(listed: Set<KeyURI>?) -> [Int] {
        guard failed.isEmpty else { return failed.sorted() }
        guard let listed else { return uris.indices.filter { readings[$0] == nil } }
        guard !readings.isEmpty else { return uris.count > 1 ? [0, uris.count - 1] : Array(uris.indices) }
        let read = readings.keys.sorted()
        return zip(read, read.dropFirst()).compactMap { low, high in
            guard high - low > 1, readings[low] != readings[high] else { return nil }
            return isListed(low, listed) && isListed(high, listed) ? nil : (low + high) / 2
        }
    }

    /// Records a playlist's result.
    mutating func note(_ reading: Reading, at index: Int) {
        readings[index] = reading
        failed.remove(index)
    }

    /// Replaces a playlist that could not be read by its next backup.
    /// - Returns: `false` if there is none.
    mutating func takeBackup(at index: Int) -> Bool {
        guard let backup = backups[index].popFirst() else { return false }
        uris[index] = backup
        failed.insert(index)
        return true
    }

    private func isListed(_ index: Int, _ listed: Set<KeyURI>) -> Bool {
        if case .keys(let keys)? = readings[index] { keys.isSubset(of: listed) } else { false }
    }
}

extension Playlist {
    /// The pathways of content steering, the initial one first; one name if the playlist has none.
    var pathways: [String] {
        let names = streams.filter { $0.group == nil }.map(\.pathway)
        let first = names.contains { $0 == firstPathway } ? firstPathway : nil
        var seen: Set<String> = []
        return ((first.map { [$0] } ?? []) + names).filter { seen.insert($0).inserted }
    }

    /// The classes of a pathway's wanted playlists, in order of first appearance.
    func ladders(ofPathway name: String, where isWanted: (String) -> Bool) -> [Ladder] {
        var classes: [StreamEntry.Class] = []
        var streams: [StreamEntry.Class: [StreamEntry]] = [:]
        var known: Set<String> = []
        for stream in self.streams(ofPathway: name) {
            guard let uri = stream.uri, known.insert(uri).inserted, isWanted(uri) else { continue }
            if streams[stream.class] == nil { classes.append(stream.class) }
            streams[stream.class, default: []].append(stream)
        }
        return classes.map { Ladder(Self.rungs((streams[$0] ?? []).sorted { $0.rank < $1.rank })) }
    }

    /// Variants of a class that say the same of themselves are one at several addresses.
    private static func rungs(_ sorted: [StreamEntry]) -> [[String]] {
        var (rungs, last): ([[String]], StreamEntry?) = ([], nil)
        for stream in sorted {
            guard let uri = stream.uri else { continue }
            if last?.isTwin(of: stream) == true { rungs[rungs.count - 1].append(uri) } else { rungs.append([uri]) }
            last = stream
        }
        return rungs
    }

    /// The streams of a pathway: its variants, and all renditions except those used only by other pathways' variants.
    private func streams(ofPathway name: String) -> [StreamEntry] {
        let own = groups { $0 == name }
        let others = groups { $0 != name }
        return streams.filter { stream in
            guard let group = stream.group else { return stream.pathway == name }
            return own.contains(group) || !others.contains(group)
        }
    }

    private func groups(ofPathways isMeant: (String) -> Bool) -> Set<StreamEntry.Group> {
        Set(streams.filter { isMeant($0.pathway) }.flatMap { $0.groups.map(StreamEntry.Group.init) })
    }
}

extension StreamEntry {
    /// A group of renditions.
    fileprivate struct Group: Hashable {
        let type: String
        let id: String
    }

    /// The common properties of playlists that have the same keys, or keys by quality.
    fileprivate struct Class: Hashable {
        let kind: Kind
        let groupID: String?
        let codecs: Set<Substring>
        let protection: [String?]
    }

    fileprivate var group: Group? {
        if case .rendition(let type) = kind { Group(type: type, id: groupID ?? "") } else { nil }
    }

    fileprivate var `class`: Class {
        let names = codecs?.split(separator: ",").map { $0.drop { $0 == " " }.prefix { $0 != "." } } ?? []
        return Class(kind: kind, groupID: groupID, codecs: Set(names), protection: protection)
    }

    /// Whether another one of the class is a backup: Apple, HTTP Live Streaming Overview, "Failover Protection".
    fileprivate func isTwin(of other: StreamEntry) -> Bool {
        bandwidth != nil && codecs == other.codecs && groups == other.groups
            && (bandwidth, averageBandwidth) == (other.bandwidth, other.averageBandwidth)
            && resolution == other.resolution
    }

    /// Orders the playlists of a class by quality.
    fileprivate var rank: (Int, Int, Int) {
        (resolution.map { $0.width * $0.height } ?? 0, bandwidth ?? 0, line)
    }
}
