package import LatchkeyCore

/// Where a content key belongs: one address has one key and one IV, for good and on every node.
///
/// Source: `Documentation/LicenseServer.md` §8.1.
package struct KeyAddress: Sendable, Hashable {
    /// The content.
    package let content: ContentName
    /// The key's identifier.
    package let kid: KeyID
    /// The crypto period; `nil` where the kid alone tells keys apart, as it does for SPEKE and for the common-encryption JSON.
    package let period: UInt32?

    /// - Parameters:
    ///   - content: the content.
    ///   - kid: the key's identifier.
    ///   - period: the crypto period, where one kid has several keys.
    package init(content: ContentName, kid: KeyID, period: UInt32? = nil) {
        self.content = content
        self.kid = kid
        self.period = period
    }
}

extension KeyAddress: CustomStringConvertible {
    package var description: String {
        "key \(kid) of “\(content)”\(period.map { " in period \($0)" } ?? "")"
    }
}
