public import Foundation

/// Loads playlists for `KeyDiscovery`: over HTTP, from files, from memory.
public protocol PlaylistFetching: Sendable {
    /// Loads one playlist. Called concurrently. Limits on time and size are up to the fetcher.
    ///
    /// - Throws: any error. Discovery reports it unchanged.
    func playlist(at uri: String) async throws -> FetchedPlaylist
}

/// A loaded playlist.
public struct FetchedPlaylist: Sendable {
    /// The body.
    public let bytes: Data
    /// The URI of the body, after redirects. Relative references are resolved against it.
    public let uri: String

    /// - Parameters:
    ///   - bytes: the body.
    ///   - uri: the URI of the body, after redirects.
    public init(bytes: Data, uri: String) {
        self.bytes = bytes
        self.uri = uri
    }
}

/// A fetcher that calls a closure.
public struct PlaylistFetcher: PlaylistFetching {
    private let fetch: @Sendable (String) async throws -> FetchedPlaylist

    /// - Parameter fetch: loads the playlist at a URI.
    public init(_ fetch: @escaping @Sendable (_ uri: String) async throws -> FetchedPlaylist) { self.fetch = fetch }

    public func playlist(at uri: String) async throws -> FetchedPlaylist { try await fetch(uri) }
}
