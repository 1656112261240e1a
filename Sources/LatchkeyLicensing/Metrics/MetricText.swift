import Foundation
import LatchkeyCore

/// The two forms in which a Prometheus server reads metrics.
package enum MetricFormat: Sendable, Hashable {
    /// Prometheus text 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The form that a request prefers: OpenMetrics only if `Accept` names it, and not with a lower quality than the other.
    package init(accept: String?) {
        let wanted = (accept ?? "").split(separator: ",").map {
            $0.lowercased().replacing(" ", with: "").split(separator: ";")
        }
        let quality = { (type: String) in
            wanted.filter { $0.first.map(String.init) == type }.map { range in
                range.first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            }.max() ?? 0
        }
        let open = quality("application/openmetrics-text")
        self = open > 0 && open >= quality("text/plain") ? .openMetrics : .prometheus
    }

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}

/// Writes metrics as text.
///
/// Source: Prometheus exposition formats; OpenMetrics 1.0.0; `Documentation/LicenseServer.md` §9.3.
struct MetricText {
    /// The replacement for every label value beyond the bounds.
    static let other = "other"

    private let format: MetricFormat
    private(set) var text = ""

    init(_ format: MetricFormat) { self.format = format }

    /// - Parameter scope: the tenants; a family without tenants belongs to the whole server only.
    mutating func append(_ family: any AnyMetricFamily, _ scope: TenantScope = .all) {
        let all = family.series
        let series = scope.isAll ? all : all.filter { family.tenant(of: $0.values).map(scope.covers) ?? false }
        guard scope.isAll || !series.isEmpty else { return }
        let isOpenCounter = format == .openMetrics && family.type == Counter.type
        let name = isOpenCounter && family.name.hasSuffix("_total") ? String(family.name.dropLast(6)) : family.name
        text += "# HELP \(name) \(escaped(family.help, isQuoted: format == .openMetrics))\n"
        text += "# TYPE \(name) \(family.type)\n"
        for (values, lines) in series {
            let labels = zip(family.labels, values).map { "\($0.name)=\"\(escaped($1, isQuoted: true))\"" }
            for line in lines {
                let all = labels + (line.bound.map { ["le=\"\(bound($0))\""] } ?? [])
                let list = all.isEmpty ? "" : "{\(all.joined(separator: ","))}"
                text += "\(family.name)\(line.suffix)\(list) \(number(line.value))\n"
            }
        }
    }

    /// Ends the text.
    package mutating func end() { if format == .openMetrics { text += "# EOF\n" } }

    /// OpenMetrics has a point in every bound; the older form is free and shows `1` in every example.
    private func bound(_ bound: Double) -> String {
        guard format == .openMetrics, bound.isFinite else { return number(bound) }
        return "\(bound)"
    }

    private func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        guard value.isFinite else { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private func escaped(_ text: String, isQuoted: Bool) -> String {
        let text = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return isQuoted ? text.replacing("\"", with: "\\\"") : text
    }
}

extension AnyMetricFamily {
    /// The tenant of a series; `nil` for a series without a tenant, or of all tenants without their own series.
    func tenant(of values: [String]) -> String? {
        guard let place = labels.firstIndex(where: { $0.name == "tenant" }), values.indices.contains(place) else {
            return nil
        }
        let tenant = values[place]
        return tenant.isEmpty || tenant == MetricText.other ? nil : tenant
    }
}
