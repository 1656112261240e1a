package import LatchkeyCore

/// What a key store says that another node may have changed, so that a cache forgets it.
///
/// Source: `Documentation/LicenseServer.md` §7.3.
package enum KeyChange: Sendable, Hashable {
    /// A key was added, replaced, removed, disabled or enabled.
    case key(tenant: String, KeyID)
    /// Many keys of a tenant, a seed, or a data key.
    case tenant(String)
    /// Anything: what was said meanwhile was not heard.
    case everything
}
