public import Foundation
public import LatchkeyCore

/// The ffmpeg on this machine, as a decoder of local playlists.
///
/// Version 5.1 or later. It may open only files, and only media formats that HLS uses, so that a hostile segment cannot make
/// it open anything else. Keys are passed in key files, because arguments are visible in the list of processes.
public struct FFmpeg: Sendable {
    /// The path of the program.
    public let path: String
    /// The maximum duration of a run.
    public var deadline: Duration
    private let clock: any Timekeeper

    /// - Parameters:
    ///   - path: the path of the program. Defaults to the first `ffmpeg` in the folders of `PATH`.
    ///   - deadline: the maximum duration of a run. Defaults to two minutes.
    ///   - clock: measures the deadline.
    /// - Throws: `Diagnosis` `toolMissing`.
    public init(
        path: String? = nil, deadline: Duration = .seconds(120), clock: any Timekeeper = SystemTimekeeper()
    ) throws {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        guard let found = path ?? Self.find("ffmpeg", in: folders) else { throw Diagnosis.toolMissing("ffmpeg") }
        guard FileManager.default.isExecutableFile(atPath: found) else { throw Diagnosis.toolMissing(found) }
        self.path = found
        self.deadline = deadline
        self.clock = clock
    }

    /// The path of a program in the first folder that has it.
    /// - Parameter folders: absolute paths, separated by colons. Others are skipped.
    static func find(_ name: String, in folders: String) -> String? {
        folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }
}

extension FFmpeg {
    /// The results of a run: hashes of the first video and the first audio stream, and the decoder's complaints.
    public struct Hashes: Sendable {
        /// At most one video and one audio stream; empty if ffmpeg could not open the playlist.
        public let streams: [FrameHashes]
        /// Lines of standard error, without addresses.
        public let complaints: [String]
    }

    /// The hashes of the decrypted, not decoded samples.
    /// - Throws: `CancellationError`; `Diagnosis` `deadlineExceeded`, `outputTooLarge`, `toolFailed`.
    public func sampleHashes(of playlist: URL) async throws -> Hashes {
        try await hashes(of: playlist, ["-map", "0:v:0?", "-map", "0:a:0?", "-c", "copy"])
    }

    /// The hashes of the samples and of the decoded frames of audio and video, in one start of ffmpeg, which costs more than
    /// decoding short media.
    /// - Parameters:
    ///   - playlist: a playlist, next to which a file is written and removed.
    ///   - limits: the number of samples and frames of each stream.
    /// - Returns: one video and one audio stream each; `nil` if ffmpeg complains about anything. Then use `sampleHashes(of:)`
    ///   and `decodedFrames(of:_:limit:)` to find the cause.
    /// - Throws: as `sampleHashes(of:)`.
    func soundStreams(
        of playlist: URL, limits: [MediaKind: Int]
    ) async throws -> (samples: [FrameHashes], frames: [FrameHashes])? {
        let decoded = playlist.appendingPathExtension("frames")
        defer { try? FileManager.default.removeItem(at: decoded) }
        let output =
            ["-map", "0:v:0?", "-map", "0:a:0?"] + limits.flatMap { Self.limit($0.value, $0.key) } + ["-f", "framemd5"]
        let result = try await run(
            Self.reading(playlist),
            ["-c", "copy"] + output + ["-"] + ["-pix_fmt", "yuv420p", "-fps_mode", "passthrough"] + output + [
                decoded.path
            ])
        guard result.errors.isEmpty, let frames = try? String(contentsOf: decoded, encoding: .utf8) else { return nil }
        let samples = FrameHashes.read(String(decoding: result.output, as: UTF8.self))
        return samples.isEmpty ? nil : (samples, FrameHashes.read(frames))
    }

    private static func limit(_ count: Int, _ media: MediaKind) -> [String] {
        ["-frames:\(media.rawValue.prefix(1))", "\(count)"]
    }

    /// The hashes of decoded pictures (yuv420p, in the stream's size) or of decoded audio.
    ///
    /// Audio decoders round differently, so hashes of audio are only useful for counting.
    /// - Parameters:
    ///   - playlist: a playlist or a media file.
    ///   - media: the stream to decode.
    ///   - limit: the number of frames to decode. Defaults to all.
    /// - Throws: as `sampleHashes(of:)`.
    public func decodedFrames(of playlist: URL, _ media: MediaKind, limit: Int? = nil) async throws -> Hashes {
        let stream =
            switch media {
            case .video: ["-map", "0:v:0", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough"]
            case .audio: ["-map", "0:a:0"]
            }
        return try await hashes(of: playlist, stream + (limit.map { Self.limit($0, media) } ?? []))
    }

    /// Writes one picture as PNG.
    /// - Parameters:
    ///   - playlist: a playlist or a media file.
    ///   - index: the index of the picture.
    ///   - file: the output file, which is replaced if it exists.
    /// - Returns: whether the picture exists.
    /// - Throws: as `sampleHashes(of:)`, and `fileFailed`.
    public func writePicture(_ index: Int, of playlist: URL, to file: URL) async throws -> Bool {
        let picture = try await run(
            playlist,
            ["-map", "0:v:0", "-vf", "select=eq(n\\,\(index))", "-fps_mode", "passthrough", "-frames:v", "1"]
                + ["-c:v", "png", "-f", "image2pipe"])
        guard picture.output.starts(with: [0x89, 0x50, 0x4e, 0x47]) else { return false }
        do {
            try PartialFile.write(picture.output, to: file.path, mode: 0o666)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Diagnosis.outputFailed(file.lastPathComponent)
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

    /// Runs ffmpeg with arguments for its inputs and its outputs.
    @discardableResult
    func run(_ inputs: [String], _ outputs: [String]) async throws -> ChildProcess.Output {
        let quiet = ["-hide_banner", "-nostdin", "-nostats", "-v", "repeat+error"]
        let child = ChildProcess(program: path, arguments: quiet + inputs + outputs)
        return try await child.run(deadline: deadline, clock: clock)
    }

    /// The arguments that open a playlist or a media file, restricted to local files.
    static func reading(_ playlist: URL) -> [String] {
        // One thread: with more, ffmpeg would read ahead into the repeated segment of a transport stream.
        let reading = [
            "-threads", "1", "-protocol_whitelist", "file,crypto", "-format_whitelist",
            "hls,mov,mpegts,aac,ac3,eac3,mp3",
        ]
        let isPlaylist = playlist.pathExtension == "m3u8"
        let extensions = isPlaylist ? ["-allowed_extensions", "ALL"] : []
        return reading + extensions + ["-i", playlist.path]
    }

    /// The lines of standard error about the media, without addresses and paths, which differ from run to run.
    ///
    /// `[NULL @ …]` is the parser that looks ahead while ffmpeg opens a file. The decoder reports the same problems under its own
    /// name if it gets there.
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
