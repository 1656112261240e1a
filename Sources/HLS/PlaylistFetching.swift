public import Foundation

/// Loads playlists for `KeyDiscovery`: over HTTP, from files, from memory.
public protocol PlaylistFetching: Sendable {
    /// Loads one playlist. Called concurrently; limits on time and size are the fetcher's.
    ///
    /// - Throws: whatever keeps the playlist from being loaded; discovery reports it as it is.
    func playlist(at uri: String) async throws -> FetchedPlaylist
}

/// A playlist as it was loaded.
public struct FetchedPlaylist: Sendable {
    /// The body.
    public let bytes: Data
    /// The URI that gave it, after redirects: what its relative references are resolved against.
    public let uri: String

    /// - Parameters:
    ///   - bytes: the body.
    ///   - uri: the URI that gave it, after redirects.
    public init(bytes: Data, uri: String) {
        self.bytes = bytes
        self.uri = uri
    }
}

/// A closure as a fetcher.
public struct PlaylistFetcher: PlaylistFetching {
    private let fetch: @Sendable (String) async throws -> FetchedPlaylist

    /// - Parameter fetch: loads the playlist at a URI.
    public init(_ fetch: @escaping @Sendable (_ uri: String) async throws -> FetchedPlaylist) { self.fetch = fetch }

    public func playlist(at uri: String) async throws -> FetchedPlaylist { try await fetch(uri) }
}
