package import LatchkeyCore

/// The address of a content key: it has one key and one IV, permanently and on every node.
///
/// Source: `Documentation/LicenseServer.md` §8.1.
package struct KeyAddress: Sendable, Hashable {
    /// The content.
    package let content: ContentName
    /// The key's identifier.
    package let kid: KeyID
    /// The crypto period; `nil` if the kid alone identifies the key, as for SPEKE and for the common-encryption JSON.
    package let period: UInt32?

    /// - Parameters:
    ///   - content: the content.
    ///   - kid: the key's identifier.
    ///   - period: the crypto period, if one kid has several keys.
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
