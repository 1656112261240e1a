import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTerminal

/// A verb's playlist: its bytes, and their origin.
struct PlaylistSource: Sendable {
    let bytes: Data
    /// The address after redirects, or the address that the user gave; `nil` for a file and for standard input.
    let uri: String?
    /// The base for media playlists: the address, or the file.
    let place: String

    /// Loads a playlist from a path, `-`, or an address.
    static func load(
        _ place: String, base: String?, from web: WebResources, limit: Int, _ console: Console
    ) async throws -> PlaylistSource {
        guard WebResources.isAddress(place) else {
            let place = try StreamFolder.playlist(place)
            // It may be media.
            let bytes = try InputFile.read(place, limit: max(limit, 1 << 30), console)
            let file = place == "-" ? "" : URL(fileURLWithPath: place).absoluteString
            return PlaylistSource(bytes: bytes, uri: base, place: base ?? file)
        }
        console.progress("Loading the playlist")
        defer { console.endProgress() }
        let fetched = try await web.playlist(at: place)
        return PlaylistSource(bytes: fetched.bytes, uri: base ?? fetched.uri, place: base ?? fetched.uri)
    }
}

/// Returns the playlist that is already loaded, and loads the playlists that it names from the network or from files.
struct FollowingFetcher: PlaylistFetching {
    private let source: PlaylistSource
    private let limit: Int
    private let web: WebResources
    private let console: Console

    init(_ source: PlaylistSource, _ web: WebResources, limit: Int, _ console: Console) {
        self.source = source
        self.web = web
        self.limit = limit
        self.console = console
    }

    func playlist(at uri: String) async throws -> FetchedPlaylist {
        if uri == source.place { return FetchedPlaylist(bytes: source.bytes, uri: uri) }
        if WebResources.isAddress(uri) {
            console.progress("Loading \(Redaction.standard.redacted(urlText: uri))")
            return try await web.playlist(at: uri)
        }
        guard let url = URL(string: uri), url.isFileURL else { throw FileError.relative(uri) }
        return FetchedPlaylist(bytes: try InputFile.read(url.path, limit: limit, console), uri: uri)
    }
}

extension FileError {
    fileprivate static func relative(_ reference: String) -> Self {
        FileError(
            code: "relativeAddress",
            reason: "\(Redaction.standard.redacted(urlText: reference)) is relative to an unknown place.",
            remedy: "Say with --base where the playlist came from.")
    }
}
