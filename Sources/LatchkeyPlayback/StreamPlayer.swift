public import Foundation
public import LatchkeyCore

/// Plays streams with known content keys through ffmpeg.
public struct StreamPlayer: Sendable {
    private let ffmpeg: FFmpeg
    private let temporaryFolder: URL
    /// Whether segments are checked against `StreamRule`.
    private var judges = true

    /// The same player, which decodes without checking rules.
    var unjudged: StreamPlayer {
        var player = self
        player.judges = false
        return player
    }

    /// - Parameters:
    ///   - ffmpeg: the decoder.
    ///   - temporaryFolder: the folder for streams during playback. Defaults to the system's temporary folder.
    public init(_ ffmpeg: FFmpeg, temporaryFolder: URL = FileManager.default.temporaryDirectory) {
        self.ffmpeg = ffmpeg
        self.temporaryFolder = temporaryFolder
    }

    /// Decrypts and decodes a local copy.
    ///
    /// Writes key files (mode 0600), playlists and init sections into the folder of the copy. At a change of keys, the stream
    /// must have a key frame, as packagers produce it.
    /// - Parameters:
    ///   - copy: the stream.
    ///   - keys: the content keys by the URIs in the playlist.
    ///   - picture: the file for one picture in PNG format. Defaults to none.
    ///   - clearMedia: the file for the clear stream. Its extension determines the container. Defaults to none.
    ///   - frame: the index of the picture. Defaults to the middle one.
    /// - Throws: a `Diagnosis`, or a `CancellationError` after ending ffmpeg.
    public func play(
        _ copy: LocalCopy, keys: [KeyURI: ContentKey], picture: URL? = nil, clearMedia: URL? = nil, frame: Int? = nil
    ) async throws -> PlaybackResult {
        let runs = try copy.tracks.map { try prepare($0, in: copy.directory, keys: keys) }
        let played = try await withThrowingTaskGroup(of: (Int, [PlayedRun]).self) { group in
            for (index, run) in runs.enumerated() { group.addTask { (index, try await play(run)) } }
            var played = runs
            for try await (index, run) in group { played[index] = run }
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

    /// Downloads and plays a stream, and removes its files.
    ///
    /// - Parameters:
    ///   - address: a multivariant or a media playlist, in the form that the download's resources accept.
    ///   - download: loads the stream.
    ///   - keys: the content keys by the URIs in the playlists.
    ///   - picture: the file for one picture in PNG format. Defaults to none.
    ///   - clearMedia: the file for the clear stream. Its extension determines the container. Defaults to none.
    ///   - frame: the index of the picture. Defaults to the middle one.
    ///   - folder: a folder that keeps media, playlists and keys. Defaults to a temporary one that is removed.
    /// - Throws: the errors of `StreamDownload.copy(_:into:)` and of playing a local copy.
    public func play(
        _ address: String, _ download: StreamDownload, keys: [KeyURI: ContentKey], picture: URL? = nil,
        clearMedia: URL? = nil, frame: Int? = nil, keeping folder: URL? = nil
    ) async throws -> PlaybackResult {
        guard let folder else {
            let folder = try WorkingFolder(in: temporaryFolder)
            defer { folder.remove() }
            return try await play(
                address, download, keys: keys, picture: picture, clearMedia: clearMedia, frame: frame,
                keeping: folder.url)
        }
        let copy = try await download.copy(address, into: folder)
        return try await play(copy, keys: keys, picture: picture, clearMedia: clearMedia, frame: frame)
    }

    /// One run of a track and its output.
    private struct PlayedRun: Sendable {
        let container: ContainerKind
        /// The kind of media to report as missing if ffmpeg finds nothing.
        let expected: MediaKind
        let playlist: PreparedRun
        let run: DecoderRun
        var tracks: [PlayedTrack] = []

        /// The rules that its segments break.
        var findings: [StreamFinding] {
            get throws {
                try run.findings(in: container, from: WorkingFiles(playlist.playlist.deletingLastPathComponent()))
            }
        }

        var clearPiece: ClearCopy.Piece {
            guard let repeating = playlist.repeating else { return .init(playlist: playlist.playlist, limits: [:]) }
            let counts = tracks.map { ($0.media, $0.samples.count) }
            return .init(playlist: repeating, limits: Dictionary(counts) { $1 })
        }
    }

    private func prepare(_ track: LocalTrack, in directory: URL, keys: [KeyURI: ContentKey]) throws -> [PlayedRun] {
        let files = WorkingFiles(directory)
        let runs = try DecoderRun.runs(of: track, in: directory, keys: keys)
        return try runs.enumerated().map { index, run in
            let name = "\(track.name)-run-\(index)"
            let playlist = try PreparedRun(run, container: track.container, name: name, in: files)
            let expected: MediaKind = track.name == "audio" ? .audio : .video
            return PlayedRun(container: track.container, expected: expected, playlist: playlist, run: run)
        }
    }

    private func play(_ runs: [PlayedRun]) async throws -> [PlayedRun] {
        var played = runs
        for index in played.indices {
            var tracks = try await tracks(of: played[index])
            let findings = judges ? try played[index].findings : []
            for track in tracks.indices { tracks[track].add(findings) }
            played[index].tracks = tracks
        }
        return played
    }

    private func tracks(of run: PlayedRun) async throws -> [PlayedTrack] {
        let counts = try await sampleCounts(of: run.playlist)
        if let streams = try await ffmpeg.soundStreams(of: run.playlist.complete, limits: counts) {
            return streams.samples.map { samples in
                var track = PlayedTrack(samples, in: run.container)
                track.frames = streams.frames.first { $0.media == samples.media }?.hashes ?? []
                return track
            }
        }
        let samples = try await samples(of: run.playlist, counts)
        var tracks: [PlayedTrack] = []
        for stream in samples.streams { tracks.append(try await decode(stream, samples.complaints, run)) }
        if tracks.isEmpty {
            var nothing = PlayedTrack(run.expected, in: run.container)
            nothing.add(complaints: samples.complaints)
            tracks.append(nothing)
        }
        return tracks
    }

    /// The number of samples of a run whose last segment is repeated; empty for other runs.
    private func sampleCounts(of run: PreparedRun) async throws -> [MediaKind: Int] {
        guard run.repeating != nil else { return [:] }
        let once = try await ffmpeg.sampleHashes(of: run.playlist)
        return Dictionary(once.streams.map { ($0.media, $0.hashes.count) }, uniquingKeysWith: max)
    }

    /// The samples of a run. If its last segment is repeated, the samples of the repetition are cut off.
    private func samples(of run: PreparedRun, _ counts: [MediaKind: Int]) async throws -> FFmpeg.Hashes {
        let samples = try await ffmpeg.sampleHashes(of: run.complete)
        guard run.repeating != nil else { return samples }
        let streams = samples.streams.map { stream in
            FrameHashes(
                media: stream.media, codec: stream.codec,
                hashes: Array(stream.hashes.prefix(counts[stream.media] ?? 0)))
        }
        return FFmpeg.Hashes(streams: streams, complaints: samples.complaints)
    }

    private func decode(_ samples: FrameHashes, _ complaints: [String], _ run: PlayedRun) async throws -> PlayedTrack {
        var track = PlayedTrack(samples, in: run.container)
        let decoded = try await ffmpeg.decodedFrames(
            of: run.playlist.complete, samples.media,
            limit: run.playlist.repeating == nil ? nil : samples.hashes.count)
        track.frames = decoded.streams.first?.hashes ?? []
        track.add(complaints: complaints + decoded.complaints)
        return track
    }

    /// Combines the runs of each kind of media into one track.
    private func merge(_ pieces: [PlayedTrack]) -> [PlayedTrack] {
        MediaKind.allCases.compactMap { media in
            let pieces = pieces.filter { $0.media == media }
            guard var whole = pieces.first else { return nil }
            for piece in pieces.dropFirst() { whole.append(piece) }
            return whole
        }
    }

    private func write(_ frame: Int?, of runs: [PlayedRun], to file: URL) async throws -> Bool {
        let counts = runs.map { run in run.tracks.first { $0.media == .video }?.frames.count ?? 0 }
        var index = frame ?? counts.reduce(0, +) / 2
        for (run, count) in zip(runs, counts) {
            guard index >= count else {
                return try await ffmpeg.writePicture(index, of: run.playlist.complete, to: file)
            }
            index -= count
        }
        return false
    }
}
