public import LatchkeyCore

/// A content key with its identifier and its URI in playlists.
public struct StoredKey: Sendable, Hashable {
    /// The URI in the packager's playlists, such as `skd://demo/video`.
    public let uri: KeyURI
    /// The key's identifier.
    public let id: KeyID
    /// Key and IV.
    public let content: ContentKey

    /// - Parameters:
    ///   - uri: the URI in playlists.
    ///   - id: the identifier.
    ///   - content: key and IV.
    public init(uri: KeyURI, id: KeyID, content: ContentKey) {
        self.uri = uri
        self.id = id
        self.content = content
    }

    /// Whether two entries are the same key, possibly with different URIs.
    package func isSameKey(as other: StoredKey) -> Bool { id == other.id && content == other.content }

    /// The last path component of the URI, without a query.
    public var lastPathComponent: String { uri.pathComponents.last ?? uri.host }
}

extension StoredKey: CustomStringConvertible {
    public var description: String { "\(uri) (\(id))" }
}
