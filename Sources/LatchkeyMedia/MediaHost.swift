public import Foundation
public import LatchkeyHTTP
import LatchkeySystem

/// Serves only the playlists and segments of a folder.
///
/// The file extension decides whether a file is served, so a `keys.json` next to the media is never exposed. Names that begin
/// with a dot, links that lead out of the folder, and paths with `..` are not found.
public struct MediaHost: Sendable {
    /// The limit of a playlist in bytes: 16 MiB. A larger one is neither rewritten nor served.
    public static let playlistBytes = 16 * 1_024 * 1_024

    private let root: String

    /// - Parameter folder: the folder that the paths of requests are relative to.
    public init(folder: URL) { root = folder.resolvingSymlinksInPath().path }

    /// Answers `GET` and `HEAD` with a file or the requested byte range of it.
    ///
    /// - Parameters:
    ///   - request: the request; its path is relative to the folder.
    ///   - rewriting: how the key URIs of playlists change; `nil` leaves them.
    public func respond(to request: HTTPRequest, rewriting: PlaylistKeyRewriting? = nil) -> HTTPResponse {
        guard [.get, .head].contains(request.method) else { return .methodNotAllowed([.get, .head]) }
        guard let file = file(at: request.path), let type = Self.types[(file as NSString).pathExtension.lowercased()]
        else { return .text("There is no such file.", status: 404) }
        guard let rewriting, type == Self.playlistType else { return .file(file, contentType: type, for: request) }
        guard FileManager.default.fileExists(atPath: file) else { return .text("There is no such file.", status: 404) }
        guard let playlist = playlist(file) else {
            return .text("The playlist cannot be read, or has more than \(Self.playlistBytes) bytes.", status: 500)
        }
        return HTTPResponse(status: 200, contentType: type, bytes: rewriting.rewritten(playlist))
    }

    /// The file at a path; `nil` if it is missing or the path leads out of the folder.
    private func file(at path: String) -> String? {
        let parts = path.split(separator: "/")
        guard !parts.isEmpty, parts.allSatisfy({ !$0.hasPrefix(".") && !$0.contains("\0") && !$0.contains("\\") })
        else {
            return nil
        }
        let resolved = URL(fileURLWithPath: root + "/" + parts.joined(separator: "/")).resolvingSymlinksInPath().path
        return resolved.hasPrefix(root + "/") ? resolved : nil
    }

    private func playlist(_ file: String) -> Data? {
        // The reply says that the file cannot be read; the client does not need the reason.
        try? PlainFile.read(file, limit: Self.playlistBytes)
    }

    private static let playlistType = "application/vnd.apple.mpegurl"
    private static let types = [
        "m3u8": playlistType, "m4s": "video/iso.segment", "mp4": "video/mp4", "m4v": "video/mp4", "cmfv": "video/mp4",
        "m4a": "audio/mp4", "cmfa": "audio/mp4", "ts": "video/mp2t", "aac": "audio/aac", "vtt": "text/vtt",
    ]
}
