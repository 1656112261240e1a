import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeyOperation

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
    /// Exchanges with the store every five seconds what tenants with limits use, and says when a limit is near.
    func followUsage() async {
        repeat { await exchangeUsage() } while (try? await shared.timekeeper.sleep(for: .seconds(5))) != nil
    }

    func exchangeUsage() async {
        for tenant in current.tenants.values.sorted(by: { $0.name < $1.name }) {
            await exchange(tenant, tenant.settings.limits)
            for limit in tenant.usage.news(tenant.settings.limits, at: shared.timekeeper.date)
                .sorted(by: { $0.rawValue < $1.rawValue })
            {
                let notices = tenant.usage.notices(tenant.name, tenant.settings.limits, at: shared.timekeeper.date)
                guard let notice = notices.first(where: { $0.contains(".\(limit.rawValue):") }) else { continue }
                var entry = LogEntry(.warning, .life, message: notice)
                entry.tenant = tenant.name
                shared.log.write(entry)
            }
        }
    }

    /// What the store does not answer counts as it did before; that it does not, its health says.
    private func exchange(_ tenant: Tenant, _ limits: TenantSettings.Limits) async {
        let (accounts, usage, date) = (shared.operatorAccounts, tenant.usage, shared.timekeeper.date)
        if limits.sessions != nil {
            let taken = usage.taken
            if let count = try? await accounts.sessionCount(of: tenant.name, most: 20_000) {
                usage.learn(sessions: count.value, including: taken)
            }
        }
        if limits.licensesPerDay != nil {
            for (day, own) in usage.unshared(at: date) {
                // Two days later nobody asks.
                let end = date.addingTimeInterval(2 * 86_400)
                let total = try? await accounts.add(own, to: "licenses/\(day)", of: tenant.name, until: end)
                if let total { usage.learn(licenses: total, of: day, including: own) }
            }
        }
        if limits.keys != nil, let count = await tenant.vault.rowCount() { usage.learn(keys: count) }
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
            // A counter that is born with its first event has not risen, for who watches it.
            for limit in TenantLimit.allCases where limits[limit] != nil {
                _ = metrics.tenantRefusals[name, limit.rawValue]
            }
        }
        metrics.tenantUse.replaceAll(
            rows.flatMap { name, _, used in used.map { ([name, $0.key.rawValue], Double($0.value)) } })
    }
}
