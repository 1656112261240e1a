import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyTokens

/// How the tenants' key sets for tokens stand, for the check, the metrics and the console.
extension ServerState {
    /// The tenants with a key set, by name.
    private var keySets: [(tenant: String, standing: KeySetSource.Standing)] {
        tenants.sorted { $0.key < $1.key }.compactMap { name, tenant in tenant.tokenKeyStanding.map { (name, $0) } }
    }

    /// What somebody should do something about, one sentence each, at most 20.
    var keySetNotices: [String] {
        let notices = keySets.flatMap { tenant, standing in
            standing.problems.map { "tenants.\(tenant).tokens.keys: \($0)" }
        }
        return Array(notices.prefix(20))
    }

    /// Fetches the sets that nobody fetched yet, all at once.
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
