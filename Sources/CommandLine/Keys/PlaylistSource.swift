import Foundation
import LatchkeyCore
import LatchkeyHLS

/// The playlist that a verb was given: its bytes, and where they came from.
struct PlaylistSource: Sendable {
    let bytes: Data
    /// The address after redirects, or what the user said it is; nil for a file and for standard input.
    let uri: String?
    /// Where the media playlists are looked for: the address, or the file.
    let place: String

    /// Loads a playlist from a path, `-`, or an address.
    static func load(_ place: String, base: String?, limit: Int, _ console: Console) async throws -> PlaylistSource {
        guard Download.isAddress(place) else {
            let bytes = try InputFile.read(place, limit: limit, console)
            let file = place == "-" ? "" : URL(fileURLWithPath: place).absoluteString
            return PlaylistSource(bytes: bytes, uri: base, place: base ?? file)
        }
        console.progress("Loading the playlist")
        defer { console.endProgress() }
        let download = try await Download.from(place, limit: limit)
        return PlaylistSource(bytes: download.body, uri: base ?? download.uri, place: base ?? download.uri)
    }
}

/// Gives out the playlist that is there already, and loads those that it names from the network or from files.
struct FollowingFetcher: PlaylistFetching {
    let source: PlaylistSource
    let limit: Int
    let console: Console

    func playlist(at uri: String) async throws -> FetchedPlaylist {
        if uri == source.place { return FetchedPlaylist(bytes: source.bytes, uri: uri) }
        if Download.isAddress(uri) {
            console.progress("Loading \(Redaction.standard.redacted(urlText: uri))")
            let download = try await Download.from(uri, limit: limit)
            return FetchedPlaylist(bytes: download.body, uri: download.uri)
        }
        guard let url = URL(string: uri), url.isFileURL else { throw DownloadError.relative(uri) }
        return FetchedPlaylist(bytes: try InputFile.read(url.path, limit: limit, console), uri: uri)
    }
}
