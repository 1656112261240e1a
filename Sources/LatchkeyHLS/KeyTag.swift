public import Foundation
public import LatchkeyCore

/// An EXT-X-KEY or EXT-X-SESSION-KEY tag.
///
/// Source: RFC 8216 §4.3.2.4 and §4.3.4.5, `Documentation/HLS.md` §7 rules 11 to 16.
public struct KeyTag: Sendable, Hashable {
    /// METHOD.
    public var method: KeyMethod
    /// URI, variables replaced, not resolved; `nil` for METHOD=NONE.
    public var uri: KeyURI?
    /// IV as written, variables replaced: `0x` or `0X` and 1 to 32 hexadecimal digits.
    public var iv: String?
    /// KEYFORMAT; `identity` if absent.
    public var format: KeyFormat
    /// Whether the tag has KEYFORMAT.
    public var statesFormat: Bool
    /// KEYFORMATVERSIONS; `1` if absent.
    public var formatVersions: String
    /// Whether the tag has KEYFORMATVERSIONS.
    public var statesFormatVersions: Bool
    /// All other attributes, in order, variables replaced.
    public var otherAttributes: [Attribute]
    /// The line of the tag, counted from 1.
    public var line: Int

    /// An attribute that this library does not interpret, such as KEYID.
    public struct Attribute: Sendable, Hashable {
        /// The name as written.
        public let name: String
        /// The value, without quotes.
        public let value: String
    }
}

extension KeyTag {
    /// The 16 bytes of the IV, with short values padded on the left; `nil` if absent.
    public var ivBytes: Data? {
        guard let digits = iv?.dropFirst(2), digits.count <= 32 else { return nil }
        return Data(hexString: String(repeating: "0", count: 32 - digits.count) + digits)
    }

    /// The listed versions. The key is usable if any of them is supported. Empty if the text is malformed.
    public var supportedVersions: [Int] {
        let parts = formatVersions.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        return parts.allSatisfy { $0 > 0 } ? parts : []
    }

    /// Whether this is a FairPlay key. KEYFORMAT decides, not the scheme `skd`.
    public var isFairPlay: Bool { method != .none && format == .fairPlay }
}
