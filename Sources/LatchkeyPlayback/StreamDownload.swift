public import Foundation
import LatchkeyCore
import LatchkeyHLS

/// Loads a stream into files: a variant, its audio rendition, their init sections and segments. It decrypts nothing.
///
/// Every response has a size limit, and every segment is checked before a decoder may read it.
public struct StreamDownload: Sendable {
    let resources: any ResourceFetching
    let limits: DownloadLimits
    private let choice: VariantChoice

    /// - Parameters:
    ///   - resources: loads playlists and media.
    ///   - limits: the limits for downloading.
    ///   - choice: the variant to load. Defaults to the highest bandwidth.
    public init(
        _ resources: any ResourceFetching, limits: DownloadLimits = DownloadLimits(),
        choosing choice: VariantChoice = .highestBandwidth
    ) {
        self.resources = resources
        self.limits = limits
        self.choice = choice
    }

    /// Loads a stream.
    /// - Parameters:
    ///   - address: a multivariant or a media playlist, in the form that the `ResourceFetching` accepts.
    ///   - directory: the folder for the files. Created with mode 0700 if it does not exist.
    /// - Throws: a `PlaylistError`, a `Diagnosis`, or an error of the resources. Files may remain in the folder.
    public func copy(_ address: String, into directory: URL) async throws -> LocalCopy {
        let files = try WorkingFiles.made(at: directory)
        let budget = ByteBudget(limits.totalBytes)
        let playlists = try await mediaPlaylists(of: address)
        let tracks = try await withThrowingTaskGroup(of: (Int, LocalTrack).self) { group in
            for (index, list) in playlists.enumerated() {
                let track = TrackDownload(
                    name: list.name, playlist: list.playlist, resources: resources, limits: limits, budget: budget)
                group.addTask { (index, try await track.load(into: files)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        let isWhole = playlists.allSatisfy { $0.playlist.isComplete && $0.playlist.segmentCount <= limits.segments }
        return LocalCopy(directory: directory, tracks: tracks, isComplete: isWhole)
    }

    private typealias NamedPlaylist = (name: String, playlist: Playlist)

    private func mediaPlaylists(of address: String) async throws -> [NamedPlaylist] {
        let first = try await playlist(at: address)
        guard first.kind == .multivariant else { return [("main", first)] }
        guard let variant = choice.variant(of: first.streams), let uri = variant.uri else {
            throw Diagnosis.emptyStream(address)
        }
        async let main = playlist(at: uri, through: first)
        guard let group = variant.groups["AUDIO"], let sound = first.audio(inGroup: group), sound != uri else {
            return [("main", try await main)]
        }
        let audio = try await playlist(at: sound, through: first)
        return [("main", try await main), ("audio", audio)]
    }

    private func playlist(at address: String, through parent: Playlist? = nil) async throws -> Playlist {
        let base = parent.map { $0.context.uri } ?? address
        let resource = try await resources.resource(at: address, from: base, limit: limits.playlistBytes)
        let context = PlaylistContext(uri: resource.address, imports: parent?.variables)
        let playlist = try Playlist(resource.bytes, context: context)
        guard playlist.kind == .media || parent == nil else {
            throw Diagnosis.malformedPlaylist("a variant leads to another multivariant playlist")
        }
        return playlist
    }
}

/// The variant of a multivariant playlist to play.
public enum VariantChoice: Sendable, Hashable {
    /// The first variant with the highest BANDWIDTH.
    case highestBandwidth
    /// The first variant with the lowest BANDWIDTH.
    case lowestBandwidth
    /// The variant with the highest BANDWIDTH up to a limit, or the lowest if all exceed it.
    case upTo(bitsPerSecond: Int)

    func variant(of streams: [StreamEntry]) -> StreamEntry? {
        let ascending = streams.filter { $0.kind == .variant && $0.uri != nil }.enumerated()
            .sorted { ($0.element.bandwidth ?? 0, -$0.offset) < ($1.element.bandwidth ?? 0, -$1.offset) }
            .map(\.element)
        let lowest = ascending.last { $0.bandwidth == ascending.first?.bandwidth }
        return switch self {
        case .highestBandwidth: ascending.last
        case .lowestBandwidth: lowest
        case .upTo(let limit): ascending.last { ($0.bandwidth ?? 0) <= limit } ?? lowest
        }
    }
}

extension Playlist {
    /// The first rendition of an audio group with its own playlist.
    fileprivate func audio(inGroup group: String) -> String? {
        streams.first { $0.kind == .rendition(type: "AUDIO") && $0.groupID == group && $0.uri != nil }?.uri
    }
}
