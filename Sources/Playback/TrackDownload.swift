import Foundation
import LatchkeyCore
import LatchkeyHLS

/// Loads what one media playlist names: each init section and each segment once, into a file of its own.
struct TrackDownload: Sendable {
    let name: String
    let playlist: Playlist
    let resources: any ResourceFetching
    let limits: DownloadLimits
    let budget: ByteBudget

    func load(into files: WorkingFiles) async throws -> LocalTrack {
        let wanted = try playlist.segments().prefix(limits.segments).map { try WantedSegment($0, of: playlist) }
        guard !wanted.isEmpty else { throw PlaybackError.emptyStream(playlist.context.uri ?? name) }
        var seen: Set<Part> = []
        let parts = wanted.flatMap { [$0.map, $0.media].compactMap { $0 } }.filter { seen.insert($0).inserted }
        let loaded = try await load(parts, into: files)
        let containers = Set(loaded.values.map(\.container))
        guard let container = containers.first, containers.count == 1 else {
            throw PlaybackError.malformedPlaylist("its segments are wrapped in several ways")
        }
        let segments = wanted.compactMap { $0.local(in: loaded) }
        return LocalTrack(name: name, container: container, segments: segments)
    }

    private func load(_ parts: [Part], into files: WorkingFiles) async throws -> [Part: LoadedPart] {
        try await withThrowingTaskGroup(of: (Part, LoadedPart).self) { group in
            var waiting = parts.enumerated().makeIterator()
            var loaded: [Part: LoadedPart] = [:]
            for _ in 0..<max(1, limits.concurrency) {
                guard let (index, part) = waiting.next() else { break }
                group.addTask { (part, try await load(part, index, into: files)) }
            }
            while let (part, file) = try await group.next() {
                loaded[part] = file
                guard let (index, part) = waiting.next() else { continue }
                group.addTask { (part, try await load(part, index, into: files)) }
            }
            return loaded
        }
    }

    private func load(_ part: Part, _ index: Int, into files: WorkingFiles) async throws -> LoadedPart {
        let limit = limits.resourceBytes
        guard part.range.map({ $0.count <= limit }) ?? true else {
            throw PlaybackError.resourceTooLarge(part.address, limit: limit)
        }
        let bytes = try await resources.resource(
            at: part.address, from: playlist.context.uri, range: part.range, limit: limit
        ).bytes
        guard part.range.map({ $0.count == bytes.count }) ?? true, !bytes.isEmpty else {
            throw PlaybackError.resourceMissing(part.address)
        }
        try budget.spend(bytes.count)
        guard let container = part.opaqueContainer ?? ContainerKind(segment: bytes) else {
            throw PlaybackError.unsupportedContainer(part.address)
        }
        let file = "\(name)-\(index).\(container.fileExtension)"
        try files.write(bytes, to: file)
        return LoadedPart(file: file, container: container)
    }
}

/// A resource, or a range of one, that goes into one file.
private struct Part: Hashable, Sendable {
    let address: String
    let range: Range<Int>?
    /// How the media is wrapped where the bytes do not tell, because all of them are encrypted.
    var opaqueContainer: ContainerKind?

    init(_ address: String, _ range: ByteRange?) {
        self.address = address
        self.range = range.map { $0.offset..<max($0.offset, $0.offset &+ $0.length) }
    }
}

/// A file, and how its media is wrapped.
private struct LoadedPart: Sendable {
    let file: String
    let container: ContainerKind
}

/// A segment of the playlist: what to load for it, how it is encrypted and what opens it.
private struct WantedSegment {
    var media: Part
    let map: Part?
    private var segment: LocalSegment

    init(_ segment: MediaSegment, of playlist: Playlist) throws {
        media = Part(segment.uri, segment.byteRange)
        map = segment.map.map { Part($0.uri, $0.byteRange) }
        self.segment = LocalSegment(
            file: "", duration: segment.duration ?? 0, isDiscontinuous: segment.followsDiscontinuity)
        let tags = segment.keys.map { playlist.keyTags[$0] }
        guard let tag = tags.first(where: \.isFairPlay) ?? tags.first else { return }
        self.segment.keyURIs = ([tag] + tags.filter { $0 != tag }).compactMap(\.uri)
        switch tag.method {
        case .none: break
        case .aes128:
            self.segment.method = .wholeSegment
            media.opaqueContainer = map == nil ? .transportStream : .fragmentedMP4
        case .sampleAES, .sampleAESCTR: self.segment.method = .samples
        case .other(let name): throw PlaybackError.malformedPlaylist("METHOD \(name.prefix(32)) is unknown")
        }
    }

    func local(in loaded: [Part: LoadedPart]) -> LocalSegment? {
        guard let file = loaded[media]?.file else { return nil }
        var segment = segment
        segment.file = file
        segment.initialization = map.flatMap { loaded[$0]?.file }
        return segment
    }
}
