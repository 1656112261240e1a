package import LatchkeyCore
import LatchkeyFairPlay

/// Pseudonyms of viewers in the log, which distinguish viewers and identify none.
///
/// A pseudonym is the HMAC-SHA-256 of the user with the tenant's salt, of which 16 bytes are shown; the salt is the HMAC of the tenant's
/// name with one secret. So one viewer has different pseudonyms at two tenants, and names cannot be tried out without the secret.
///
/// Source: `Documentation/LicenseServer.md` §9.4.
package struct UserPseudonyms: Sendable {
    private let secret: Secret
    /// The salts of tenants, one for each tenant of the configuration.
    private let salts = Locked<[String: Secret]>([:])

    /// - Parameter secret: 16 bytes or more, the same on all nodes, and changed when pseudonyms should no longer fit those before.
    package init(secret: Secret) { self.secret = secret }

    /// The pseudonym of a user, 32 hexadecimal digits; `nil` if libcrypto has no SHA-256.
    package func pseudonym(of user: String, at tenant: String) -> String? {
        guard let salt = salt(of: tenant), let code = try? MessageDigest.hmac(.sha256, key: salt, Array(user.utf8))
        else { return nil }
        return code.prefix(16).hexString
    }

    private func salt(of tenant: String) -> Secret? {
        if let salt = salts.withLock({ $0[tenant] }) { return salt }
        guard let bytes = try? MessageDigest.hmac(.sha256, key: secret, Array(tenant.utf8)) else { return nil }
        let salt = Secret(bytes)
        salts.withLock { $0[tenant] = salt }
        return salt
    }
}
