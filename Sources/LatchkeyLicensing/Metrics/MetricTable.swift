import LatchkeyDecision

/// Makes the metrics and keeps them in their order.
struct MetricTable {
    /// The upper bounds of all times, in seconds.
    static let bounds = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

    let tenant: MetricLabel
    private(set) var families: [any AnyMetricFamily] = []

    init(tenants: Int) { tenant = .first(tenants, "tenant") }

    mutating func licenseRequests() -> MetricFamily<Counter> {
        let family = MetricFamily<Counter>(
            "latchkey_license_requests_total", "Requests for licenses and slots, by outcome.",
            [
                tenant, .first(100, "endpoint"), .fixed("drm", LicenseRequestFacts.DRM.allCases.map(\.label)),
                .fixed("outcome", LicenseOutcome.allCases.map(\.rawValue)), .first(200, "reason"),
            ], limit: 10_000, make: Counter.init)
        families.append(family)
        return family
    }

    mutating func counters(_ name: String, _ help: String, _ labels: [MetricLabel] = []) -> MetricFamily<Counter> {
        let family = MetricFamily<Counter>(name, help, labels, make: Counter.init)
        family.makeFixedSeries()
        families.append(family)
        return family
    }

    @discardableResult
    mutating func gauges(_ name: String, _ help: String, _ labels: [MetricLabel] = []) -> MetricFamily<Gauge> {
        let family = MetricFamily<Gauge>(name, help, labels, make: Gauge.init)
        families.append(family)
        return family
    }

    mutating func gauge(_ name: String, _ help: String) -> Gauge { gauges(name, help)[] }

    mutating func times(_ name: String, _ help: String, _ labels: [MetricLabel] = []) -> MetricFamily<Histogram> {
        let family = MetricFamily<Histogram>(name, help, labels) { Histogram(bounds: Self.bounds) }
        families.append(family)
        return family
    }
}
