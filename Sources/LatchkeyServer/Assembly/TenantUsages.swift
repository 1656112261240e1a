import Foundation
import LatchkeyCore
import LatchkeyLicensing

/// How much of their limits tenants use: it outlives a configuration.
final class TenantUsages: Sendable {
    private let usages = Locked<[String: TenantUsage]>([:])
    private let metrics: ServerMetrics

    init(_ metrics: ServerMetrics) { self.metrics = metrics }

    /// That of a tenant.
    func of(_ tenant: String) -> TenantUsage {
        usages.withLock { usages in
            if let known = usages[tenant] { return known }
            let refusals = metrics.tenantRefusals
            let usage = TenantUsage { refusals[tenant, $0.rawValue].add() }
            usages[tenant] = usage
            return usage
        }
    }
}

extension LicenseServer {
    /// Exchanges the use of tenants with limits with the store every five seconds, and says when a limit is near.
    func followUsage() async {
        repeat { await exchangeUsage() } while (try? await shared.timekeeper.sleep(for: .seconds(5))) != nil
    }

    func exchangeUsage() async {
        for tenant in current.tenants.values.sorted(by: { $0.name < $1.name }) {
            await exchange(tenant, tenant.settings.limits)
            let news = tenant.usage.news(tenant.name, tenant.settings.limits, at: shared.timekeeper.date)
            for notice in news {
                var entry = LogEntry(.warning, .life, message: notice)
                entry.tenant = tenant.name
                shared.log.write(entry)
            }
        }
    }

    /// Counts that the store does not answer stay as before; its health reports the failure.
    private func exchange(_ tenant: Tenant, _ limits: TenantSettings.Limits) async {
        let (accounts, usage) = (shared.operatorAccounts, tenant.usage)
        if limits.sessions != nil {
            let taken = usage.taken
            if let count = try? await accounts.sessionCount(of: tenant.name, most: 20_000) {
                usage.learn(sessions: count, including: taken)
            }
        }
        if limits.licensesPerDay != nil { await shareLicenses(of: tenant) }
        if limits.keys != nil, let count = await tenant.vault.rowCount() { usage.learn(keys: count) }
    }

    /// Shares the licenses of the last seconds with the store, before the server ends.
    func shareLicenses() async {
        for tenant in current.tenants.values where tenant.settings.limits.licensesPerDay != nil {
            await shareLicenses(of: tenant)
        }
    }

    private func shareLicenses(of tenant: Tenant) async {
        let (usage, date) = (tenant.usage, shared.timekeeper.date)
        for (day, own) in usage.licenses(at: date) {
            // Two days later the count is not needed.
            let end = date.addingTimeInterval(2 * 86_400)
            let others = try? await shared.operatorAccounts.share(
                own, of: "licenses/\(day)", tenant.name, by: usage.process, until: end)
            if let others { usage.learn(others: others, of: day, telling: own) }
        }
    }
}

extension ServerShared {
    /// Sets the gauges of the tenants' limits.
    func showLimits(of state: ServerState) {
        let date = timekeeper.date
        let rows = state.tenants.values.map { tenant in
            (tenant.name, tenant.settings.limits, tenant.usage.used(tenant.settings.limits, at: date))
        }
        metrics.tenantLimit.replaceAll(
            rows.flatMap { name, limits, _ in
                TenantLimit.allCases.compactMap { limit in limits[limit].map { ([name, limit.rawValue], Double($0)) } }
            })
        for (name, limits, _) in rows {
            // A counter that first appears with its first event shows no rise to a monitor.
            for limit in TenantLimit.allCases where limits[limit] != nil {
                _ = metrics.tenantRefusals[name, limit.rawValue]
            }
        }
        metrics.tenantUse.replaceAll(
            rows.flatMap { name, _, used in used.map { ([name, $0.key.rawValue], Double($0.value.value)) } })
    }
}
