/// Content that plays within a stream, such as an advertisement: EXT-X-DATERANGE of the class `com.apple.hls.interstitial`.
///
/// Its playlists have their own keys, possibly from another vendor.
///
/// Source: draft-pantos-hls-rfc8216bis, Appendix D.2.
public struct Interstitial: Sendable, Hashable {
    /// ID.
    public let id: String?
    /// X-ASSET-URI: the asset's multivariant or media playlist, resolved; `nil` if absent.
    public let assetURI: String?
    /// X-ASSET-LIST: the URI of a JSON list of assets, resolved; `nil` if absent.
    public let assetListURI: String?
    /// The line of the tag, counted from 1.
    public let line: Int

    static let dateRangeClass = "com.apple.hls.interstitial"
}
