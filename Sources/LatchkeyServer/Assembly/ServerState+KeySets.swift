import LatchkeyDecision
import LatchkeyLicensing

/// The state of the tenants' key sets for tokens, for the check, the metrics and the console.
extension ServerState {
    /// The tenants with a key set, by name.
    private var keySets: [(tenant: String, standing: KeySetSource.Standing)] {
        tenants.sorted { $0.key < $1.key }.compactMap { name, tenant in tenant.tokenKeyStanding.map { (name, $0) } }
    }

    /// Notices that need attention, at most 20 of a tenant.
    var keySetNotices: [Notice] {
        keySets.flatMap { tenant, standing in
            standing.problems.prefix(20).map { Notice("tenants.\(tenant).tokens.keys: \($0)", of: tenant) }
        }
    }

    /// Fetches the sets that were not fetched yet, all at the same time.
    func loadKeySets() async {
        await withTaskGroup { group in
            for tenant in tenants.values { group.addTask { await tenant.loadTokenKeys() } }
        }
    }

    func showKeySets(in metrics: ServerMetrics) {
        let sets = keySets
        metrics.keySetKeys.replaceAll(
            sets.flatMap { tenant, standing in
                [
                    ([tenant, "usable"], Double(standing.keys)),
                    ([tenant, "refused"], Double(standing.refused.count)),
                ]
            })
        metrics.keySetFailed.replaceAll(sets.map { ([$0.tenant], $0.standing.failure == nil ? 0 : 1) })
    }
}
