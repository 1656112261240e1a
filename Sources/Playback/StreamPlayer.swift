public import Foundation
public import LatchkeyCore

/// Plays streams whose content keys are known, by handing them to ffmpeg.
public struct StreamPlayer: Sendable {
    private let ffmpeg: FFmpeg
    private let temporaryFolder: URL

    /// - Parameters:
    ///   - ffmpeg: the decoder.
    ///   - temporaryFolder: where streams lie while they play; the system's folder unless given.
    public init(_ ffmpeg: FFmpeg, temporaryFolder: URL = FileManager.default.temporaryDirectory) {
        self.ffmpeg = ffmpeg
        self.temporaryFolder = temporaryFolder
    }

    /// Decrypts and decodes a local copy.
    ///
    /// Writes key files (mode 0600), playlists and init sections beside the media. They stay until the folder goes.
    /// Pictures at the seam of two keys need key frames there, as packagers make them.
    /// - Parameters:
    ///   - copy: the stream.
    ///   - keys: the content keys by the URIs of the playlist.
    ///   - picture: where to write one picture as PNG; none unless given.
    ///   - clearMedia: where to write the clear stream, in the container that its ending names; nowhere unless given.
    ///   - frame: which picture, from 0; the middle one unless given.
    /// - Throws: `PlaybackError`; `CancellationError`, with ffmpeg ended.
    public func play(
        _ copy: LocalCopy, keys: [KeyURI: ContentKey], picture: URL? = nil, clearMedia: URL? = nil, frame: Int? = nil
    ) async throws -> PlaybackResult {
        let parts = try copy.tracks.map { try prepare($0, in: copy.directory, keys: keys) }
        let played = try await withThrowingTaskGroup(of: (Int, [Part]).self) { group in
            for (index, part) in parts.enumerated() { group.addTask { (index, try await play(part)) } }
            var played = parts
            for try await (index, part) in group { played[index] = part }
            return played
        }
        let tracks = played.flatMap { merge($0.flatMap(\.tracks)) }
        var written: URL?
        if let picture, try await write(frame, of: played.flatMap { $0 }, to: picture) { written = picture }
        if let clearMedia {
            try await ClearCopy(ffmpeg: ffmpeg, files: WorkingFiles(copy.directory))
                .write(played.map { $0.map(\.clearPiece) }, to: clearMedia)
        }
        return PlaybackResult(tracks: tracks, picture: written, isComplete: copy.isComplete)
    }

    /// Downloads and plays a stream, and removes what it wrote.
    ///
    /// - Parameters:
    ///   - address: a multivariant or a media playlist, as the download's resources take it.
    ///   - download: how to load it.
    ///   - keys: the content keys by the URIs of the playlists.
    ///   - picture: where to write one picture as PNG; none unless given.
    ///   - clearMedia: where to write the clear stream, in the container that its ending names; nowhere unless given.
    ///   - frame: which picture, from 0; the middle one unless given.
    ///   - folder: a folder that keeps media, playlists and keys; a temporary one, removed, unless given.
    /// - Throws: as `StreamDownload.copy(_:into:)` and `play(_:keys:picture:frame:)`.
    public func play(
        _ address: String, _ download: StreamDownload, keys: [KeyURI: ContentKey], picture: URL? = nil,
        clearMedia: URL? = nil, frame: Int? = nil, keeping folder: URL? = nil
    ) async throws -> PlaybackResult {
        guard let folder else {
            let files = try WorkingFiles.temporary(in: temporaryFolder)
            defer { files.remove() }
            return try await play(
                address, download, keys: keys, picture: picture, clearMedia: clearMedia, frame: frame,
                keeping: files.directory)
        }
        let copy = try await download.copy(address, into: folder)
        return try await play(copy, keys: keys, picture: picture, clearMedia: clearMedia, frame: frame)
    }

    /// One stretch of a track and what came out of it.
    private struct Part: Sendable {
        let container: ContainerKind
        /// What counts as missing when ffmpeg finds nothing at all.
        let expected: MediaKind
        let playlist: PreparedStretch
        var tracks: [PlayedTrack] = []

        var clearPiece: ClearCopy.Piece {
            guard let repeating = playlist.repeating else { return .init(playlist: playlist.playlist, limits: [:]) }
            let counts = tracks.map { ($0.media, $0.samples.count) }
            return .init(playlist: repeating, limits: Dictionary(counts) { $1 })
        }
    }

    private func prepare(_ track: LocalTrack, in directory: URL, keys: [KeyURI: ContentKey]) throws -> [Part] {
        let files = WorkingFiles(directory)
        let stretches = try Stretch.stretches(of: track, in: directory, keys: keys)
        return try stretches.enumerated().map { index, stretch in
            let name = "\(track.name)-stretch-\(index)"
            let playlist = try PreparedStretch(stretch, container: track.container, name: name, in: files)
            let expected: MediaKind = track.name == "audio" ? .audio : .video
            return Part(container: track.container, expected: expected, playlist: playlist)
        }
    }

    private func play(_ parts: [Part]) async throws -> [Part] {
        var played = parts
        for index in played.indices {
            let samples = try await samples(of: played[index].playlist)
            for stream in samples.streams {
                played[index].tracks.append(try await decode(stream, samples.complaints, played[index]))
            }
            if samples.streams.isEmpty {
                var nothing = PlayedTrack(played[index].expected, in: played[index].container)
                nothing.add(complaints: samples.complaints)
                played[index].tracks.append(nothing)
            }
        }
        return played
    }

    /// Samples of a stretch. Where its last segment is repeated, the repetition's samples are cut off.
    private func samples(of stretch: PreparedStretch) async throws -> FFmpeg.Hashes {
        let once = try await ffmpeg.sampleHashes(of: stretch.playlist)
        guard let repeating = stretch.repeating else { return once }
        let counts = Dictionary(once.streams.map { ($0.media, $0.hashes.count) }, uniquingKeysWith: max)
        let twice = try await ffmpeg.sampleHashes(of: repeating)
        let streams = twice.streams.map { stream in
            FrameHashes(
                media: stream.media, codec: stream.codec,
                hashes: Array(stream.hashes.prefix(counts[stream.media] ?? 0)))
        }
        return FFmpeg.Hashes(streams: streams, complaints: twice.complaints)
    }

    private func decode(_ samples: FrameHashes, _ complaints: [String], _ part: Part) async throws -> PlayedTrack {
        var track = PlayedTrack(samples.media, in: part.container)
        track.codec = samples.codec
        track.samples = samples.hashes
        let decoded = try await ffmpeg.decodedFrames(
            of: part.playlist.repeating ?? part.playlist.playlist, samples.media,
            limit: part.playlist.repeating == nil ? nil : samples.hashes.count)
        track.frames = decoded.streams.first?.hashes ?? []
        track.add(complaints: complaints + decoded.complaints)
        return track
    }

    /// The stretches of a track as one.
    private func merge(_ pieces: [PlayedTrack]) -> [PlayedTrack] {
        MediaKind.allCases.compactMap { media in
            let pieces = pieces.filter { $0.media == media }
            guard var whole = pieces.first else { return nil }
            for piece in pieces.dropFirst() { whole.append(piece) }
            return whole
        }
    }

    private func write(_ frame: Int?, of parts: [Part], to file: URL) async throws -> Bool {
        let counts = parts.map { part in part.tracks.first { $0.media == .video }?.frames.count ?? 0 }
        var index = frame ?? counts.reduce(0, +) / 2
        for (part, count) in zip(parts, counts) {
            guard index >= count else {
                let playlist = part.playlist.repeating ?? part.playlist.playlist
                return try await ffmpeg.writePicture(index, of: playlist, to: file)
            }
            index -= count
        }
        return false
    }
}
