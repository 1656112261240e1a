/// The external information that parsing a playlist needs.
public struct PlaylistContext: Sendable, Hashable {
    /// The URI of the playlist, after redirects; `nil` if unknown.
    public var uri: String?
    /// The variables of the multivariant playlist that led here, for `EXT-X-DEFINE:IMPORT`; `nil` without one.
    public var imports: [String: String]?
    /// The previous copy of the playlist, with the keys of the segments that a delta update skips; `nil` without one.
    public var earlierCopy: EarlierCopy?
    /// The limits for the playlist.
    public var limits: PlaylistLimits

    /// - Parameters:
    ///   - uri: the URI of the playlist, after redirects. Relative references are resolved against it.
    ///   - imports: the variables of the multivariant playlist that led here.
    ///   - earlierCopy: the previous copy of the playlist, for delta updates.
    ///   - limits: the limits for the playlist.
    public init(
        uri: String? = nil, imports: [String: String]? = nil, earlierCopy: EarlierCopy? = nil,
        limits: PlaylistLimits = PlaylistLimits()
    ) {
        self.uri = uri
        self.imports = imports
        self.earlierCopy = earlierCopy
        self.limits = limits
    }
}
