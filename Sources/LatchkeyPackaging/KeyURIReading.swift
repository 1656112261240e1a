import Foundation
package import LatchkeyCore
package import LatchkeyVault

/// The parts of a key's name in a license request.
///
/// Source: `Documentation/LicenseServer.md` §2.4 and §4.
package struct KeyURIReading: Sendable, Hashable {
    /// The key's identifier.
    package let kid: KeyID
    /// The content; `nil` if the name does not state it.
    package let content: ContentName?
    /// The IV, 16 bytes; `nil` if the name does not state it.
    package let iv: [UInt8]?

    init(kid: KeyID, content: ContentName? = nil, iv: [UInt8]? = nil) {
        self.kid = kid
        self.content = content
        self.iv = iv
    }

    /// Reads the content identifier of an SPC: a key URI or the part after its scheme, by the tenant's template, or only a kid, as base64
    /// (Shaka Packager's `skd://` URIs), UUID or hexadecimal digits. A query, trailing slashes and `:IV` after a kid are ignored.
    /// - Parameters:
    ///   - identifier: the identifier.
    ///   - template: the tenant's template; `nil` if it has none.
    /// - Returns: `nil` for anything else.
    package init?(_ identifier: ContentIdentifier, template: KeyURITemplate?) {
        guard let text = identifier.text else { return nil }
        guard let reading = Self.reading(KeyURI(text), template) ?? Self.reading(KeyURI(Self.trimmed(text)), template)
        else { return nil }
        self = reading
    }

    /// A name without its query and trailing slashes.
    private static func trimmed(_ text: String) -> String {
        var trimmed = text.prefix { $0 != "?" }
        while trimmed.last == "/" { trimmed.removeLast() }
        return String(trimmed)
    }

    private static func reading(_ uri: KeyURI, _ template: KeyURITemplate?) -> Self? {
        if let template {
            if let reading = template.reading(of: uri) { return reading }
            let whole = KeyURI(template.scheme + uri.raw)
            if let reading = template.reading(of: whole) ?? template.reading(ofDecoded: uri)
                ?? template.reading(ofDecoded: whole)
            {
                return reading
            }
        }
        let name = uri.remainder.removingPercentEncoding ?? uri.remainder
        if let kid = KeyID(name) ?? Data(lenientBase64: name).flatMap({ KeyID(bytes: $0) }) { return Self(kid: kid) }
        let parts = name.split(separator: ":", maxSplits: 1).map { KeyID(String($0)) }
        guard parts.count == 2, let kid = parts[0], let iv = parts[1]?.bytes else { return nil }
        return Self(kid: kid, iv: [UInt8](iv))
    }
}
