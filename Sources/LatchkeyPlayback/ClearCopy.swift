import Foundation
import LatchkeyCore

/// Writes a decrypted stream into one file: remuxes each run, joins the runs of a track, and combines the tracks.
struct ClearCopy {
    let ffmpeg: FFmpeg
    let files: WorkingFiles

    /// One run: its playlist, and the number of samples of each kind to take if its last segment is repeated.
    struct Piece {
        let playlist: URL
        let limits: [MediaKind: Int]
    }

    /// - Parameters:
    ///   - tracks: the pieces of each track, in order.
    ///   - file: the output file. Its extension determines the container.
    /// - Throws: `Diagnosis` `fileFailed`, and the errors of running ffmpeg.
    func write(_ tracks: [[Piece]], to file: URL) async throws {
        var lists: [URL] = []
        for (track, pieces) in tracks.enumerated() {
            var list = ""
            for (index, piece) in pieces.enumerated() {
                let part = files.url("clear-\(track)-\(index).mkv")
                try await ffmpeg.copy(piece.playlist, limits: piece.limits, to: part)
                list += "file '\(part.lastPathComponent)'\n"
            }
            let name = "clear-\(track).txt"
            try files.write(list.utf8, to: name)
            lists.append(files.url(name))
        }
        let whole = files.url("clear.\(file.pathExtension)")
        try await ffmpeg.join(lists, to: whole)
        do {
            try PartialFile.write(Data(contentsOf: whole, options: .mappedIfSafe), to: file.path, mode: 0o666)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Diagnosis.outputFailed(file.lastPathComponent)
        }
    }
}

extension FFmpeg {
    /// Remuxes a playlist's decrypted samples into a Matroska file.
    func copy(_ playlist: URL, limits: [MediaKind: Int], to file: URL) async throws {
        let frames = limits.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { media, count in
            ["-frames:\(media.rawValue.prefix(1))", "\(count)"]
        }
        try await run(
            Self.reading(playlist), ["-map", "0", "-c", "copy"] + frames + ["-f", "matroska", "-y", file.path])
    }

    /// Joins the files of each list, and combines the results.
    func join(_ lists: [URL], to file: URL) async throws {
        let inputs = lists.flatMap {
            ["-protocol_whitelist", "file", "-format_whitelist", "concat,matroska", "-f", "concat", "-i", $0.path]
        }
        let maps = lists.indices.flatMap { ["-map", "\($0)"] }
        let result = try await run(inputs, maps + ["-c", "copy", "-y", file.path])
        guard FileManager.default.fileExists(atPath: file.path) else {
            let said = String(decoding: result.errors, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
            // Without the path of the temporary file and the address that ffmpeg writes in brackets.
            let reason = said.replacing(file.deletingLastPathComponent().path + "/", with: "")
                .replacing(#/^\[[^\]]*\] /#, with: "")
            throw Diagnosis.containerRefused(file.pathExtension, "\(reason.prefix(200)).")
        }
    }
}
