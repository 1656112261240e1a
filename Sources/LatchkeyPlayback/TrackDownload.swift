import Foundation
import LatchkeyCore
import LatchkeyHLS

/// Loads the init sections and segments of a media playlist, each once, into files.
struct TrackDownload: Sendable {
    let name: String
    let playlist: Playlist
    let resources: any ResourceFetching
    let limits: DownloadLimits
    let budget: ByteBudget

    func load(into files: WorkingFiles) async throws -> LocalTrack {
        try await load(playlist.segments().prefix(limits.segments), into: files)
    }

    /// Loads some of the playlist's segments.
    func load(_ segments: some Sequence<MediaSegment>, into files: WorkingFiles) async throws -> LocalTrack {
        let wanted = try segments.map { try WantedSegment($0, of: playlist) }
        guard !wanted.isEmpty else { throw Diagnosis.emptyStream(playlist.context.uri ?? name) }
        var seen: Set<MediaResource> = []
        let parts = wanted.flatMap { [$0.map, $0.media].compactMap { $0 } }.filter { seen.insert($0).inserted }
        let loaded = try await load(parts, into: files)
        let containers = Set(loaded.values.map(\.container))
        guard let container = containers.first, containers.count == 1 else {
            throw Diagnosis.malformedPlaylist("its segments are wrapped in several ways")
        }
        let segments = wanted.compactMap { $0.local(in: loaded) }
        return LocalTrack(name: name, container: container, segments: segments)
    }

    private func load(_ parts: [MediaResource], into files: WorkingFiles) async throws -> [MediaResource: LoadedFile] {
        try await withThrowingTaskGroup(of: (MediaResource, LoadedFile).self) { group in
            var waiting = parts.enumerated().makeIterator()
            var loaded: [MediaResource: LoadedFile] = [:]
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

    private func load(_ part: MediaResource, _ index: Int, into files: WorkingFiles) async throws -> LoadedFile {
        let limit = limits.resourceBytes
        guard part.range.map({ $0.count <= limit }) ?? true else {
            throw Diagnosis.resourceTooLarge(part.address, limit: limit)
        }
        let bytes = try await resources.resource(
            at: part.address, from: playlist.context.uri, range: part.range, limit: limit
        ).bytes
        guard part.range.map({ $0.count == bytes.count }) ?? true, !bytes.isEmpty else {
            throw Diagnosis.resourceMissing(part.address)
        }
        try budget.spend(bytes.count)
        guard let container = part.opaqueContainer ?? ContainerKind(segment: bytes) else {
            throw part.isUnderKey && bytes.looksEncrypted
                ? Diagnosis.wholeSegmentEncrypted(part.address) : Diagnosis.unsupportedContainer(part.address)
        }
        let file = "\(name)-\(index).\(container.fileExtension)"
        try files.write(bytes, to: file)
        return LoadedFile(file: file, container: container)
    }
}

/// A resource, or a range of it, that is stored in one file.
private struct MediaResource: Hashable, Sendable {
    let address: String
    let range: Range<Int>?
    /// The container format, if all bytes are encrypted and cannot reveal it.
    var opaqueContainer: ContainerKind?
    /// Whether its samples are encrypted according to the playlist.
    var isUnderKey = false

    init(_ address: String, _ range: ByteRange?) {
        self.address = address
        self.range = range.map { $0.offset..<max($0.offset, $0.offset &+ $0.length) }
    }
}

/// A file and the container format of its contents.
private struct LoadedFile: Sendable {
    let file: String
    let container: ContainerKind
}

/// A segment to load: its resources, its encryption and its keys.
private struct WantedSegment {
    var media: MediaResource
    let map: MediaResource?
    private var segment: LocalSegment

    init(_ segment: MediaSegment, of playlist: Playlist) throws {
        media = MediaResource(segment.uri, segment.byteRange)
        map = segment.map.map { MediaResource($0.uri, $0.byteRange) }
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
        case .sampleAES, .sampleAESCTR:
            self.segment.method = .samples
            media.isUnderKey = true
        case .other(let name): throw Diagnosis.malformedPlaylist("METHOD \(name.prefix(32)) is unknown")
        }
    }

    func local(in loaded: [MediaResource: LoadedFile]) -> LocalSegment? {
        guard let file = loaded[media]?.file else { return nil }
        var segment = segment
        segment.file = file
        segment.initialization = map.flatMap { loaded[$0]?.file }
        return segment
    }
}

extension Data {
    /// Whether all of it may be AES-128-CBC: whole blocks that are not text.
    fileprivate var looksEncrypted: Bool {
        !isEmpty && count % 16 == 0 && String(data: self, encoding: .utf8) == nil
    }
}
