public import Foundation
public import LatchkeyCore

/// The ffmpeg on this machine, as a decoder of local playlists.
///
/// Version 5.1 or later. It may open files only, and as media only what HLS carries, so that a hostile segment cannot
/// send it elsewhere. Keys reach it through key files: an argument would show in the list of processes.
public struct FFmpeg: Sendable {
    /// The path of the program.
    public let path: String
    /// How long one run may take.
    public var deadline: Duration
    private let clock: any Timekeeper

    /// - Parameters:
    ///   - path: the path of the program; the first `ffmpeg` in the folders of `PATH` unless given.
    ///   - deadline: how long one run may take; two minutes unless given.
    ///   - clock: measures the deadline.
    /// - Throws: `PlaybackError` `toolMissing`.
    public init(
        path: String? = nil, deadline: Duration = .seconds(120), clock: any Timekeeper = SystemTimekeeper()
    ) throws {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        guard let found = path ?? Self.find("ffmpeg", in: folders) else { throw PlaybackError.toolMissing("ffmpeg") }
        guard FileManager.default.isExecutableFile(atPath: found) else { throw PlaybackError.toolMissing(found) }
        self.path = found
        self.deadline = deadline
        self.clock = clock
    }

    /// The path of a program in the first of some folders that has it.
    /// - Parameter folders: absolute paths, joined by colons; others are skipped.
    static func find(_ name: String, in folders: String) -> String? {
        folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }
}

extension FFmpeg {
    /// What one run gave: hashes of its first video and its first audio stream, and what the decoder complained about.
    public struct Hashes: Sendable {
        /// At most one of video and one of audio; none when ffmpeg could not open the playlist.
        public let streams: [FrameHashes]
        /// Lines of standard error, without addresses.
        public let complaints: [String]
    }

    /// The hashes of the samples, decrypted and not decoded.
    /// - Throws: `CancellationError`; `PlaybackError` `deadlineExceeded`, `outputTooLarge`, `toolFailed`.
    public func sampleHashes(of playlist: URL) async throws -> Hashes {
        try await hashes(of: playlist, ["-map", "0:v:0?", "-map", "0:a:0?", "-c", "copy"])
    }

    /// The hashes of decoded pictures (yuv420p, at the size of the stream) or of decoded sound.
    ///
    /// Decoders of sound differ in rounding, so its hashes are good for counting only.
    /// - Parameters:
    ///   - playlist: a playlist or a media file.
    ///   - media: which of its streams.
    ///   - limit: how many frames to decode; all unless given.
    /// - Throws: as `sampleHashes(of:)`.
    public func decodedFrames(of playlist: URL, _ media: MediaKind, limit: Int? = nil) async throws -> Hashes {
        let stream =
            switch media {
            case .video: ["-map", "0:v:0", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough"]
            case .audio: ["-map", "0:a:0"]
            }
        return try await hashes(
            of: playlist, stream + (limit.map { ["-frames:\(media.rawValue.prefix(1))", "\($0)"] } ?? []))
    }

    /// Writes one picture as PNG.
    /// - Parameters:
    ///   - playlist: a playlist or a media file.
    ///   - index: which picture, from 0.
    ///   - file: where to; an old file is replaced.
    /// - Returns: whether there was such a picture.
    /// - Throws: as `sampleHashes(of:)`, and `fileFailed`.
    public func writePicture(_ index: Int, of playlist: URL, to file: URL) async throws -> Bool {
        let picture = try await run(
            playlist,
            ["-map", "0:v:0", "-vf", "select=eq(n\\,\(index))", "-fps_mode", "passthrough", "-frames:v", "1"]
                + ["-c:v", "png", "-f", "image2pipe"])
        guard picture.output.starts(with: [0x89, 0x50, 0x4e, 0x47]) else { return false }
        do {
            try picture.output.write(to: file, options: .atomic)
        } catch {
            throw PlaybackError.outputFailed(file.lastPathComponent)
        }
        return true
    }

    private func hashes(of playlist: URL, _ options: [String]) async throws -> Hashes {
        let result = try await run(playlist, options + ["-f", "framemd5"])
        return Hashes(
            streams: FrameHashes.read(String(decoding: result.output, as: UTF8.self)),
            complaints: Self.complaints(in: result.errors, about: playlist))
    }

    private func run(_ playlist: URL, _ options: [String]) async throws -> ChildProcess.Output {
        try await run(Self.reading(playlist), options + ["-"])
    }

    /// Runs ffmpeg with its inputs' arguments and its outputs'.
    @discardableResult
    func run(_ inputs: [String], _ outputs: [String]) async throws -> ChildProcess.Output {
        let quiet = ["-hide_banner", "-nostdin", "-nostats", "-v", "repeat+error"]
        let child = ChildProcess(program: path, arguments: quiet + inputs + outputs)
        return try await child.run(deadline: deadline, clock: clock)
    }

    /// The arguments that open a playlist or a media file, and nothing that it may lead to outside the file system.
    static func reading(_ playlist: URL) -> [String] {
        // One thread: more would read ahead into the segment that a transport stream repeats.
        let reading = [
            "-threads", "1", "-protocol_whitelist", "file,crypto", "-format_whitelist",
            "hls,mov,mpegts,aac,ac3,eac3,mp3",
        ]
        let isPlaylist = playlist.pathExtension == "m3u8"
        let extensions = isPlaylist ? ["-allowed_extensions", "ALL"] : []
        return reading + extensions + ["-i", playlist.path]
    }

    /// The lines of standard error that speak of the media: without addresses and paths, which differ from run to run.
    ///
    /// `[NULL @ …]` is the parser that looks ahead while ffmpeg opens a file. What it stumbles on, the decoder will
    /// report by its own name if it ever gets there.
    static func complaints(in errors: Data, about playlist: URL) -> [String] {
        let folder = playlist.deletingLastPathComponent().path + "/"
        return String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            .filter { !$0.hasPrefix("[NULL @ ") }
            .map { line in
                let text = line.replacingOccurrences(of: folder, with: "")
                guard text.hasPrefix("["), let at = text.range(of: " @ 0x"), let end = text.firstIndex(of: "]"),
                    at.lowerBound < end
                else { return text }
                return text.replacingCharacters(in: at.lowerBound..<end, with: "")
            }
    }
}
