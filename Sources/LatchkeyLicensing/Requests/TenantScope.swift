/// Which tenants something is for: what an operator sees and changes, what a page or a list shows.
package enum TenantScope: Sendable, Hashable {
    /// The whole server: all tenants, those to come, and what is no tenant's.
    case all
    /// These, and nothing that is no tenant's.
    case listed(Set<String>)

    /// Whether a tenant's things are within.
    /// - Parameter tenant: its name; `nil` for what is no tenant's.
    package func covers(_ tenant: String?) -> Bool {
        guard case .listed(let names) = self else { return true }
        return tenant.map(names.contains) ?? false
    }

    /// Whether it is the whole server.
    package var isAll: Bool { self == .all }
}
