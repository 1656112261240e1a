package import LatchkeyCore

/// A key store's report that another node may have changed something, so that caches forget it.
///
/// Source: `Documentation/LicenseServer.md` §7.3.
package enum KeyChange: Sendable, Hashable {
    /// A key was added, replaced, removed, disabled or enabled.
    case key(tenant: String, KeyID)
    /// A block was set or lifted.
    case blocks
    /// Many keys of a tenant, a seed, or a data key.
    case tenant(String)
    /// Anything: reports may have been missed.
    case everything
}
