import Foundation
package import LatchkeyCore
package import LatchkeyVault

/// What the name of a key in a license request says.
///
/// Source: `Documentation/LicenseServer.md` §2.4 and §4.
package struct KeyURIReading: Sendable, Hashable {
    /// The key's identifier.
    package let kid: KeyID
    /// The content; `nil` if the name does not say it.
    package let content: ContentName?
    /// The IV, 16 bytes; `nil` if the name does not say it.
    package let iv: [UInt8]?

    init(kid: KeyID, content: ContentName? = nil, iv: [UInt8]? = nil) {
        self.kid = kid
        self.content = content
        self.iv = iv
    }

    /// Reads the content identifier of an SPC: a key URI or what follows its scheme, by the tenant's template, or with nothing but a kid, as
    /// base64 (Shaka Packager's `skd://` URIs), UUID or hexadecimal digits.
    /// - Parameters:
    ///   - identifier: the identifier.
    ///   - template: the tenant's template; `nil` if it has none.
    /// - Returns: `nil` for anything else.
    package init?(_ identifier: ContentIdentifier, template: KeyURITemplate?) {
        guard let text = identifier.text else { return nil }
        let uri = KeyURI(text)
        if let template,
            let reading = template.reading(of: uri) ?? template.reading(of: KeyURI(template.scheme + uri.raw))
        {
            self = reading
            return
        }
        let name = uri.remainder.removingPercentEncoding ?? uri.remainder
        guard let kid = KeyID(name) ?? Data(lenientBase64: name).flatMap({ KeyID(bytes: $0) }) else { return nil }
        self.init(kid: kid)
    }
}
