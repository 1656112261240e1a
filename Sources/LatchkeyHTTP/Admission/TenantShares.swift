/// The number of requests in progress of each tenant, and whether a tenant has its share.
///
/// A share is an equal part of the places for each tenant that has something running. A tenant below its share is let in although all
/// places are taken: tenants above theirs have to wait until some of their requests have ended. So up to twice as many run for a moment, no
/// tenant waits for a neighbor, and one tenant alone has all places. Requests without a tenant count as one more tenant's, so that no flood
/// of them takes the tenants' places.
///
/// Source: `Documentation/Server/Tenants.md`.
package struct TenantShares: Sendable {
    /// How many run.
    private(set) var total = 0
    /// How many run of each tenant that has any; `nil` for requests without a tenant.
    private var tenants: [String?: Int] = [:]

    package init() {}

    /// Whether a tenant has less than its share of the places, while others have some of them.
    private func hasRoom(_ tenant: String?, of places: Int) -> Bool {
        let own = tenants[tenant] ?? 0
        let active = tenants.count + (own == 0 ? 1 : 0)
        return active > 1 && own < places / active
    }

    /// Begins a request of a tenant, unless all places are taken and the tenant has its share of them.
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
