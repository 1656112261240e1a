public import Foundation
public import LatchkeyCore

/// The key that a live playlist will use next: EXT-X-PRELOAD-HINT with TYPE=KEY.
///
/// No segment uses it yet. `ContentKeyLoader.preload` loads it like the keys in use.
///
/// Source: `Documentation/HLS.md` §7 rule 22.
public struct KeyHint: Sendable, Hashable {
    /// URI, variables replaced, not resolved.
    public let uri: KeyURI
    /// KEYFORMAT; `identity` if absent.
    public let format: KeyFormat
    /// DATE-OF-FIRST-USE; `nil` if absent or not a valid date.
    public let firstUse: Date?
    /// The line of the tag, counted from 1.
    public let line: Int

    /// Whether this is a FairPlay key. KEYFORMAT decides, not the scheme `skd`.
    public var isFairPlay: Bool { format == .fairPlay }
}

extension KeyHint {
    /// - Returns: `nil` for a hint of another type, and for a hint without a key.
    init?(
        _ attributes: AttributeList, _ variables: inout Substitution, _ warnings: inout WarningList
    ) throws(PlaylistError) {
        guard attributes["TYPE"]?.value.equals("KEY") == true else { return nil }
        guard let uri = try attributes.text("URI", &variables), !uri.isEmpty else {
            warnings.add("a hinted key without URI", line: attributes.line)
            return nil
        }
        if attributes["METHOD"]?.value.equals("NONE") == true { return nil }
        self.uri = KeyURI(uri)
        format = try attributes.text("KEYFORMAT", &variables).map { KeyFormat($0) } ?? .identity
        firstUse = try attributes.text("DATE-OF-FIRST-USE", &variables).flatMap(Self.date)
        line = attributes.line
    }

    private static func date(_ text: String) -> Date? {
        [false, true].lazy.compactMap {
            try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: $0))
        }.first
    }
}
