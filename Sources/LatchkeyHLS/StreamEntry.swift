/// A playlist in a multivariant playlist, or a rendition without its own playlist.
///
/// Source: RFC 8216 §4.3.4.1 to §4.3.4.3.
public struct StreamEntry: Sendable, Hashable {
    /// The kind of entry.
    public enum Kind: Sendable, Hashable {
        /// EXT-X-STREAM-INF.
        case variant
        /// EXT-X-I-FRAME-STREAM-INF.
        case iFrames
        /// EXT-X-MEDIA, with its TYPE: `AUDIO`, `VIDEO`, `SUBTITLES`, `CLOSED-CAPTIONS`.
        case rendition(type: String)
    }

    /// The kind of the entry.
    public let kind: Kind
    /// The media playlist, resolved; `nil` if the variants contain the rendition, or if the tag has no URI.
    public internal(set) var uri: String?
    /// GROUP-ID of a rendition.
    public let groupID: String?
    /// NAME of a rendition.
    public let name: String?
    /// LANGUAGE of a rendition.
    public let language: String?
    /// BANDWIDTH, bits per second.
    public let bandwidth: Int?
    /// AVERAGE-BANDWIDTH, bits per second.
    public let averageBandwidth: Int?
    /// RESOLUTION.
    public let resolution: Resolution?
    /// CODECS.
    public let codecs: String?
    /// The groups that a variant refers to, by type: `["AUDIO": "aud"]`.
    public let groups: [String: String]
    /// The line of the tag, counted from 1.
    public let line: Int
    /// PATHWAY-ID: the playlist's content steering pathway. Defaults to `.`.
    let pathway: String
    /// VIDEO-RANGE, HDCP-LEVEL and ALLOWED-CPC, as stated. Playlists that differ in them may have different keys.
    let protection: [String?]

    /// A picture size in pixels.
    public struct Resolution: Sendable, Hashable {
        /// The width in pixels.
        public let width: Int
        /// The height in pixels.
        public let height: Int
    }
}

extension StreamEntry {
    init(_ kind: Kind, _ attributes: AttributeList, _ variables: inout Substitution) throws(PlaylistError) {
        self.kind = kind
        line = attributes.line
        uri = kind == .variant ? nil : try attributes.text("URI", &variables)
        groupID = try attributes.text("GROUP-ID", &variables)
        name = try attributes.text("NAME", &variables)
        language = try attributes.text("LANGUAGE", &variables)
        codecs = try attributes.text("CODECS", &variables)
        bandwidth = try attributes.text("BANDWIDTH", &variables).flatMap { Int($0) }
        averageBandwidth = try attributes.text("AVERAGE-BANDWIDTH", &variables).flatMap { Int($0) }
        resolution = try attributes.text("RESOLUTION", &variables).flatMap(Resolution.init)
        var groups: [String: String] = [:]
        groups["AUDIO"] = try attributes.text("AUDIO", &variables)
        groups["VIDEO"] = try attributes.text("VIDEO", &variables)
        groups["SUBTITLES"] = try attributes.text("SUBTITLES", &variables)
        self.groups = groups
        pathway = try attributes.text("PATHWAY-ID", &variables) ?? Self.defaultPathway
        var protection: [String?] = []
        for name in ["VIDEO-RANGE", "HDCP-LEVEL", "ALLOWED-CPC"] as [StaticString] {
            protection.append(try attributes.text(name, &variables))
        }
        self.protection = protection
    }

    static let defaultPathway = "."
}

extension StreamEntry.Resolution {
    /// - Parameter text: `640x360`. Any other form gives `nil`.
    init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0 else { return nil }
        (self.width, self.height) = (width, height)
    }
}
