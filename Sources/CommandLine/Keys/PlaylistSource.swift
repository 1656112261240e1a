import Foundation

/// A playlist's bytes, and where they came from.
struct PlaylistSource: Sendable {
    let bytes: Data
    /// The address after redirects; nil for a file and for standard input.
    let uri: String?

    /// Loads a playlist from a path, `-`, or an address.
    static func load(_ place: String, limit: Int, _ console: Console) async throws -> PlaylistSource {
        guard Download.isAddress(place) else {
            return PlaylistSource(bytes: try InputFile.read(place, limit: limit, console), uri: nil)
        }
        console.progress("Loading the playlist")
        defer { console.endProgress() }
        let download = try await Download.from(place, limit: limit)
        return PlaylistSource(bytes: download.body, uri: download.uri)
    }
}
