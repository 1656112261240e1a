/// What a playlist needs to know from outside of itself.
public struct PlaylistContext: Sendable, Hashable {
    /// The URI that the playlist came from, after redirects; nil when it is not known.
    public var uri: String?
    /// The variables of the multivariant playlist that led here, for `EXT-X-DEFINE:IMPORT`; nil without one.
    public var imports: [String: String]?
    /// How much the playlist may demand.
    public var limits: PlaylistLimits

    /// - Parameters:
    ///   - uri: where the playlist came from, after redirects; relative references are resolved against it.
    ///   - imports: the variables of the multivariant playlist that led here.
    ///   - limits: how much the playlist may demand.
    public init(uri: String? = nil, imports: [String: String]? = nil, limits: PlaylistLimits = PlaylistLimits()) {
        self.uri = uri
        self.imports = imports
        self.limits = limits
    }
}
