/// How many requests of each tenant are worked on at once, and whether one has its share.
///
/// A share is an equal part of what may run for each tenant that has something running. Who has less than that is let in although all
/// places are taken: whoever took more has to wait until some of theirs have ended. So up to twice as many run for a moment, nobody waits for
/// a neighbor, and one tenant alone has all places. What is no tenant's counts as one tenant's more, so that no flood of it takes the
/// places of those who are one.
///
/// Source: `Documentation/Server/Tenants.md`.
package struct TenantShares: Sendable {
    /// How many run.
    private(set) var total = 0
    /// How many run of each that has any; `nil` is what is no tenant's.
    private var tenants: [String?: Int] = [:]

    package init() {}

    /// Whether a tenant has less than its share of so many places, while others have some of them.
    private func hasRoom(_ tenant: String?, of places: Int) -> Bool {
        let own = tenants[tenant] ?? 0
        let active = tenants.count + (own == 0 ? 1 : 0)
        return active > 1 && own < places / active
    }

    /// Begins one of a tenant's, unless all of so many places are taken and the tenant has its share of them.
    package mutating func begin(_ tenant: String?, within places: Int) -> Bool {
        guard total < places || hasRoom(tenant, of: places) else { return false }
        total += 1
        tenants[tenant, default: 0] += 1
        return true
    }

    package mutating func end(_ tenant: String?) {
        total = max(0, total - 1)
        guard let own = tenants[tenant] else { return }
        if own > 1 { tenants[tenant] = own - 1 } else { tenants.removeValue(forKey: tenant) }
    }
}
