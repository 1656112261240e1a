public import Foundation
public import LatchkeyCore

/// A playlist's statements about its keys, as JSON for tools. Also covers refused playlists.
///
/// For a refused playlist, kind, segments and warnings cover the part before the refusal; key tags, runs and FairPlay URIs are
/// null. `error` gives the reason in a few words; for a missing `#EXTM3U` the warning gives it. Null values are encoded.
public struct PlaylistReport: Sendable {
    /// The reason for the refusal; `nil` if the playlist is valid.
    public let refusal: PlaylistError?
    private let reader: PlaylistReader
    private let byteCount: Int

    /// The kind of the playlist, as far as it was parsed.
    public var kind: PlaylistKind { reader.kind }

    /// The distinct URIs of its FairPlay keys, session keys first; empty if it was refused.
    public var fairPlayURIs: [KeyURI] {
        refusal == nil ? Playlist.fairPlayURIs(reader.sessionKeyTags + reader.keyTags) : []
    }

    /// Parses a playlist. Never fails: a refusal is part of the report.
    public init(_ bytes: Data, context: PlaylistContext = PlaylistContext()) {
        var reader = PlaylistReader(context)
        refusal = reader.read(bytes)
        self.reader = reader
        byteCount = bytes.count
    }
}

extension PlaylistReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case bytes, playlistURI, imports, kind, keyTags, sessionKeyTags, hintedKey, segments, segmentRuns, fairplayURIs
        case warnings, error
    }

    public func encode(to encoder: any Encoder) throws {
        let isValid = refusal == nil
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(byteCount, forKey: .bytes)
        try container.encode(reader.context.uri, forKey: .playlistURI)
        try container.encode(reader.context.imports, forKey: .imports)
        try container.encode(reader.kind, forKey: .kind)
        try container.encode(isValid ? reader.keyTags.map(ReportedKeyTag.init) : nil, forKey: .keyTags)
        try container.encode(isValid ? reader.sessionKeyTags.map(ReportedKeyTag.init) : nil, forKey: .sessionKeyTags)
        try container.encode(isValid ? reader.hintedKey.map(ReportedHint.init) : nil, forKey: .hintedKey)
        try container.encode(reader.segmentCount, forKey: .segments)
        try container.encode(isValid ? reader.segmentRuns : nil, forKey: .segmentRuns)
        let uris = isValid ? Playlist.fairPlayURIs(reader.sessionKeyTags + reader.keyTags) : nil
        try container.encode(uris, forKey: .fairplayURIs)
        try container.encode(reader.warnings.all.map(\.description), forKey: .warnings)
        try container.encode(refusal?.kind == .missingHeader ? nil : refusal?.summary, forKey: .error)
    }
}

private struct ReportedHint: Encodable {
    let hint: KeyHint

    private enum CodingKeys: String, CodingKey {
        case KEYFORMAT, URI, firstUse = "DATE-OF-FIRST-USE", line
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hint.format.text, forKey: .KEYFORMAT)
        try container.encode(hint.uri, forKey: .URI)
        try container.encode(hint.firstUse?.formatted(.iso8601), forKey: .firstUse)
        try container.encode(hint.line, forKey: .line)
    }
}

private struct ReportedKeyTag: Encodable {
    let tag: KeyTag

    private enum CodingKeys: String, CodingKey {
        case METHOD, KEYFORMAT, KEYFORMATVERSIONS, URI, IV, line, explicitKEYFORMAT, explicitKEYFORMATVERSIONS
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tag.method.text, forKey: .METHOD)
        try container.encode(tag.format.text, forKey: .KEYFORMAT)
        try container.encode(tag.formatVersions, forKey: .KEYFORMATVERSIONS)
        try container.encode(tag.uri, forKey: .URI)
        try container.encode(tag.iv, forKey: .IV)
        try container.encode(tag.line, forKey: .line)
        try container.encode(tag.statesFormat, forKey: .explicitKEYFORMAT)
        try container.encode(tag.statesFormatVersions, forKey: .explicitKEYFORMATVERSIONS)
    }
}
