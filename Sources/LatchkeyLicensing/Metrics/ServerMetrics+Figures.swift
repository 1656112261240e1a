import LatchkeyDecision
package import LatchkeySystem

/// Figures for a console: sums of lines of the metrics' text.
extension ServerMetrics {
    /// License requests by how they ended, since the start: the sums of `latchkey_license_requests_total`.
    /// - Parameter scope: the tenants whose requests count. Defaults to all.
    package func licenseTotals(_ scope: TenantScope = .all) -> [LicenseOutcome: UInt64] {
        guard let place = licenseRequests.labels.firstIndex(where: { $0.name == "outcome" }) else { return [:] }
        return requests(scope).reduce(into: [:]) { totals, series in
            guard let outcome = LicenseOutcome(rawValue: series.values[place]) else { return }
            for line in series.lines { totals[outcome, default: 0] += UInt64(line.value) }
        }
    }

    /// Refused license requests by their refusals' codes, since the start; refused tokens by the token's error, as the list of refusals has
    /// them, except for single tenants, where they are `tokenRefused` together. For all tenants packagers' refused requests, too.
    /// - Parameter scope: the tenants whose requests count. Defaults to all.
    package func refusalReasons(_ scope: TenantScope = .all) -> [String: UInt64] {
        let tokens = scope.isAll ? Self.counts(of: tokensRejected.series, by: 0) : [:]
        guard let place = licenseRequests.labels.firstIndex(where: { $0.name == "reason" }),
            let packagerPlace = packagerRequests.labels.firstIndex(where: { $0.name == "reason" })
        else { return tokens }
        var reasons = Self.counts(of: requests(scope), by: place)
        let code = LicenseRefusal.tokenRefused.code
        let (refused, known) = (reasons[code] ?? 0, tokens.values.reduce(0, +))
        reasons[code] = refused > known ? refused - known : nil
        reasons.merge(tokens, uniquingKeysWith: +)
        guard scope.isAll else { return reasons }
        return reasons.merging(Self.counts(of: packagerRequests.series, by: packagerPlace), uniquingKeysWith: +)
    }

    private func requests(_ scope: TenantScope) -> [(values: [String], lines: [MetricLine])] {
        let all = licenseRequests.series
        return scope.isAll ? all : all.filter { licenseRequests.tenant(of: $0.values).map(scope.covers) ?? false }
    }

    /// The sums of counters by one of their labels; series with an empty label are left out.
    private static func counts(of series: [(values: [String], lines: [MetricLine])], by place: Int) -> [String: UInt64]
    {
        series.reduce(into: [:]) { totals, series in
            guard !series.values[place].isEmpty else { return }
            for line in series.lines { totals[series.values[place], default: 0] += UInt64(line.value) }
        }
    }

    /// The number of license requests by time, with rising upper bounds, the last one infinite: the sums of the buckets of
    /// `latchkey_license_duration_seconds`.
    package var licenseTimes: [(bound: Double, count: UInt64)] {
        let lines = licenseDuration.series.flatMap(\.lines).filter { $0.bound != nil }
        let counts = lines.reduce(into: [Double: UInt64]()) {
            $0[$1.bound ?? .infinity, default: 0] += UInt64($1.value)
        }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Shows how many calls a cluster's nodes redirected since the start.
    package func show(_ redirections: [ClusterRedirection: UInt64]) {
        for (why, count) in redirections {
            let counter = storeRedirections[why.rawValue]
            counter.add(count - min(count, counter.value))
        }
    }

    /// By their labels, whether any of several engines is away for some work.
    private static func outages(
        _ engines: [(labels: [String], isAway: Bool)]
    ) -> [(labels: [String], value: Double)] {
        let away = Dictionary(grouping: engines, by: \.labels).mapValues { $0.contains(where: \.isAway) }
        return away.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value ? 1 : 0) }
    }

    /// Shows the state of engines.
    package func show(_ engines: [EngineHealth]) {
        // Of several regions' stores, each outage affects its own accounts.
        storeOutage.replaceAll(
            Self.outages(
                engines.filter { $0.tenant == nil }.flatMap { engine in
                    engine.operations.map { ([engine.name, $0.rawValue], engine.isAway(for: $0)) }
                }))
        regionOutage.replaceAll(Self.outages(engines.compactMap { one in one.region.map { ([$0], one.isAway) } }))
        calloutOutage.replaceAll(
            engines.compactMap { engine in
                guard let tenant = engine.tenant, engine.name == EngineRole.callout.rawValue else { return nil }
                return ([tenant], engine.isAway ? 1 : 0)
            })
    }
}
