import Foundation
package import LatchkeyCore

/// One customer of a license server, with everything that its requests need.
///
/// Immutable: a new configuration makes a new one, and requests that run keep theirs.
package struct Tenant: Sendable {
    package let name: String
    package let settings: TenantSettings
    /// The content keys.
    package let keys: any LicenseKeys
    private let verifier: TokenVerifier
    private let tokenKeys: KeySetSource?

    /// - Parameters:
    ///   - name: its name, as in addresses.
    ///   - settings: what the configuration states.
    ///   - keys: its content keys.
    ///   - tokenKeys: the keys that sign its tokens; `nil` accepts no token.
    package init(
        _ name: String, _ settings: TenantSettings, keys: any LicenseKeys, tokenKeys: KeySetSource?
    ) {
        self.name = name
        self.settings = settings
        self.keys = keys
        self.tokenKeys = tokenKeys
        verifier = TokenVerifier(settings.tokens.rules)
    }

    /// Verifies a viewer's token.
    /// - Parameters:
    ///   - token: the token's text; `nil` if the request has none.
    ///   - date: now.
    /// - Returns: the grant, or a refusal that is as vague as a stranger may see it; with its cause for the log.
    func grant(_ token: String?, at date: Date) async -> (Result<Grant, LicenseRefusal>, TokenError?) {
        guard let token, !token.isEmpty else {
            return (.failure(LicenseRefusal(.tokenMissing, reason: "The request has no token.")), nil)
        }
        guard let tokenKeys else { return (.failure(.tokenRefused), nil) }
        let verified: VerifiedToken
        do throws(TokenError) {
            verified = try await tokenKeys.verified(token, by: verifier, at: date)
        } catch {
            return (.failure(error.refusal), error)
        }
        do throws(LicenseRefusal) { return (.success(try Grant(verified)), nil) } catch {
            return (.failure(error), nil)
        }
    }

    /// What a player's content identifier says: a key URI of the tenant's, Shaka Packager's, or the kid alone.
    func reading(of identifier: ContentIdentifier) -> KeyURITemplate.Reading? {
        guard let text = identifier.text else { return nil }
        if let reading = settings.keyURI.reading(of: KeyURI(text)) { return reading }
        let name = KeyURI(text).remainder
        guard let kid = KeyID(name) ?? Data(lenientBase64: name).flatMap({ KeyID(bytes: $0) }) else { return nil }
        return KeyURITemplate.Reading(kid: kid, content: nil, iv: nil)
    }
}

/// The content keys of a tenant, as licenses need them.
package protocol LicenseKeys: Sendable {
    /// The key that a content identifier names.
    ///
    /// Answers from memory or by derivation while a store is down.
    /// - Throws: `unknownKey` for a key that is not there; `.policy(.blocked)` for a disabled one; `.policy(.storeUnavailable)`.
    func key(_ kid: KeyID, content: ContentName?, iv: [UInt8]?) async throws(LicenseRefusal) -> LicenseKey
}

/// A content key with what policies say of it.
package struct LicenseKey: Sendable {
    package let content: ContentKey
    package let facts: KeyFacts

    package init(content: ContentKey, facts: KeyFacts) {
        self.content = content
        self.facts = facts
    }
}
