/// The tenants within an operator's reach, or shown by a page or a list.
package enum TenantScope: Sendable, Hashable {
    /// The whole server: all tenants, present and future, and things without a tenant.
    case all
    /// These tenants only.
    case listed(Set<String>)

    /// Whether a tenant's things are within.
    /// - Parameter tenant: its name; `nil` for things without a tenant.
    package func covers(_ tenant: String?) -> Bool {
        guard case .listed(let names) = self else { return true }
        return tenant.map(names.contains) ?? false
    }

    /// Whether it is the whole server.
    package var isAll: Bool { self == .all }
}
