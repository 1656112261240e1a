package import LatchkeyCore
import LatchkeyDecision
package import LatchkeyVault

/// The name by which a request identifies a tenant's key.
package enum KeyName: Sendable, Hashable {
    /// Its identifier, with the content if the request states it.
    case kid(KeyID, ContentName?)
    /// Its content, which has one key.
    case content(ContentName)

    /// - Parameters:
    ///   - text: a UUID or 32 hexadecimal digits, or else the content's name. The result is `nil` for no name.
    ///   - content: the content's name sent with the key's; a kid in its place is ignored.
    package init?(_ text: String, of content: String? = nil) {
        if let kid = KeyID(text) {
            self = .kid(kid, content.flatMap { KeyID($0) == nil ? ContentName($0) : nil })
        } else if let content = ContentName(text) {
            self = .content(content)
        } else {
            return nil
        }
    }
}

extension Tenant {
    /// The key of a name.
    /// - Throws: as `key(_:content:)`, and `ambiguousKey`.
    func key(_ name: KeyName) async throws(LicenseRefusal) -> VaultKey {
        switch name {
        case .kid(let kid, let content): return try await key(kid, content: content)
        case .content(let content):
            let kid: KeyID
            do throws(VaultError) { kid = try await vault.kid(ofOnly: content) } catch { throw LicenseRefusal(error) }
            return try await key(kid, content: content)
        }
    }
}
