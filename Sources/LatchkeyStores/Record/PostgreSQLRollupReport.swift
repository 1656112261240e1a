import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

/// A report that roll-ups can answer: of whole hours, without an account, and with one dimension besides time and tenant.
///
/// Source: `Documentation/Server/Reports.md` §5.
struct PostgreSQLRollupReport {
    private static let (hour, day) = (Int64(3_600_000), Int64(86_400_000))

    private let report: RecordReport
    private let times: Range<Int64>
    private let dimension: String
    /// The only value of the dimension; `nil` for all.
    private let value: String?
    private let hasWholeDays: Bool

    /// - Parameter report: the report. The result is `nil` if its rows have to be read.
    init?(_ report: RecordReport) {
        let filters = [("content", report.content), ("code", report.code)].filter { $0.1 != nil }
        let end = report.times.upperBound
        let past = report.endsNow ? (end + Self.hour - 1) / Self.hour * Self.hour : end
        guard !report.isExact, report.account == nil, filters.count < 2, report.times.lowerBound % Self.hour == 0,
            past % Self.hour == 0
        else { return nil }
        let own: String?
        switch report.grouping {
        case .hour, .day, .tenant: own = nil
        case .content, .country, .code, .policy, .node, .api: own = report.grouping.rawValue
        case .drm: own = "api"
        case .account, .device: return nil
        }
        let filter = filters.first
        guard filter == nil || own == nil || own == filter?.0 else { return nil }
        hasWholeDays = report.times.lowerBound % Self.day == 0 && (report.endsNow || past % Self.day == 0)
        let named = filter?.0 ?? own ?? "api"
        let hasDays = named == "content" && hasWholeDays && report.grouping != .hour
        (self.report, times, value) = (report, report.times.lowerBound..<past, filter?.1)
        dimension = hasDays ? PostgreSQLRollupSchema.contentDays : named
    }

    /// Whether the roll-ups have all rows of the range; since when they have all, `NULL` if always; the hour of the tenant's first row.
    var reach: PostgreSQLCall {
        let first = "SELECT min(begins) FROM latchkey.rollups WHERE dimension = 'api'"
        return PostgreSQLCall(
            report.tenant == nil ? "rollup-reach" : "rollup-reach-tenant",
            """
            SELECT since <= $1, CASE WHEN isfinite(since) THEN since END, (\(first)\(report.tenant == nil ? "" : " AND tenant = $2"))
            FROM latchkey.rollup_state
            """, [.date(RecordRange.date(times.lowerBound))] + (report.tenant.map { [.text($0)] } ?? []))
    }

    /// Its statements, in one transaction: settings, counts, then latency and sketches if it has them.
    var calls: [PostgreSQLCall] {
        [Self.settings, counts] + (hasLatency ? [latency] : []) + (hasSketches ? [sketches] : [])
    }

    /// Whether roll-ups have the latency of its licenses and renewals.
    var hasLatency: Bool { value == nil && report.event != .refusal }

    /// Whether roll-ups have sketches for it.
    var hasSketches: Bool { value == nil && hasWholeDays }

    /// Sums by hashes, however many groups the planner expects, because sorting the roll-ups takes longer than reading them. A plan that still
    /// has to sort appears expensive, and would be compiled.
    private static let settings = PostgreSQLCall(
        "rollup-settings", "SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true)")

    /// A row for all, then one for each listed group.
    private var counts: PostgreSQLCall {
        let columns = zip(["licenses", "renewals", "refusals"], RecordReport.events).map { name, event in
            (report.event ?? event) == event ? "sum(\(name)) AS \(name)" : "0 AS \(name)"
        }
        return call(
            "counts",
            """
            SELECT now(), count(*) OVER (), part, licenses, renewals, refusals FROM (
                SELECT part, grouping(part) AS of_all, coalesce(sum(licenses), 0)::bigint AS licenses,
                    coalesce(sum(renewals), 0)::bigint AS renewals, coalesce(sum(refusals), 0)::bigint AS refusals
                FROM (SELECT \(part(report.grouping)) AS part, licenses, renewals, refusals FROM (
                    SELECT \(column(report.grouping)), \(columns.joined(separator: ", "))
                    FROM latchkey.rollups WHERE dimension = '\(dimension)' AND \(conditions) GROUP BY 1) AS summed) AS chosen
                GROUP BY GROUPING SETS ((), (part))) AS counted
            WHERE of_all = 1 OR licenses + renewals + refusals > 0
            ORDER BY of_all DESC, \(report.grouping.milliseconds == nil ? "licenses + renewals + refusals DESC, part" : "part DESC")
            LIMIT \(report.limit + 1)
            """)
    }

    /// The licenses and renewals of each bucket of latency, by group if its groups are times or tenants.
    private var latency: PostgreSQLCall {
        let count = report.event.map { $0 == .license ? "licenses" : "renewals" } ?? "licenses + renewals"
        return call(
            "latency",
            """
            SELECT \(part(sharedGrouping)) AS part, value, sum(count)::bigint FROM (
                SELECT \(column(sharedGrouping)), value, sum(\(count)) AS count FROM latchkey.rollups
                WHERE dimension = '\(PostgreSQLRollupSchema.latency)' AND \(conditions) GROUP BY 1, 2) AS summed
            GROUP BY 1, 2
            """)
    }

    /// The sketches, by group if its groups are days or tenants.
    private var sketches: PostgreSQLCall {
        let event = report.event.map { " AND event = '\($0.rawValue)'" } ?? ""
        return call(
            "sketches",
            """
            SELECT \(part(hasSketchesOfGroups ? sharedGrouping : nil)) AS part, figure, registers
            FROM latchkey.sketches WHERE \(conditions)\(event)
            """)
    }

    /// The grouping by a property that all dimensions have.
    private var sharedGrouping: RecordReport.Grouping? {
        switch report.grouping {
        case .hour, .day, .tenant: report.grouping
        default: nil
        }
    }

    /// Whether sketches are by group.
    var hasSketchesOfGroups: Bool { sharedGrouping != nil && sharedGrouping != .hour }

    /// The key of a group from its text.
    func key(_ text: String) -> RecordReportAnswer.Group.Key {
        report.grouping.milliseconds == nil ? .text(text) : .time(Int64(text) ?? 0)
    }

    /// A group's value as text; times in milliseconds since 1970.
    private func part(_ grouping: RecordReport.Grouping?) -> String {
        let sql =
            switch grouping {
            case nil: "''"
            case .hour?: "(extract(epoch FROM begins) * 1000)::bigint::text"
            case .day?: "(extract(epoch FROM date_trunc('day', begins, 'UTC')) * 1000)::bigint::text"
            case .tenant?: "tenant"
            case .drm?: RecordReport.Grouping.drm(ofAPI: "value")
            default: "value"
            }
        return "\(sql) COLLATE \"C\""
    }

    /// The column of which a group's value is made. Roll-ups are summed by it first, so that few values are converted to text.
    private func column(_ grouping: RecordReport.Grouping?) -> String {
        switch grouping {
        case nil: "''"
        case .hour?, .day?: "begins"
        case .tenant?: "tenant"
        default: "value"
        }
    }

    private var conditions: String {
        let tenant = report.tenant == nil ? "" : " AND tenant = $3"
        let only = value == nil ? "" : " AND value = $\(report.tenant == nil ? 3 : 4)"
        return "begins >= $1 AND begins < $2\(tenant)\(only)"
    }

    private func call(_ name: String, _ sql: String) -> PostgreSQLCall {
        let values: [PostgreSQLValue] = [
            .date(RecordRange.date(times.lowerBound)), .date(RecordRange.date(times.upperBound)),
        ]
        // Each name always has the same text.
        return PostgreSQLCall(
            "rollup-\(name)-\(sql.hashValue)", sql,
            values + [report.tenant, value].compactMap(\.self).map { PostgreSQLValue.text($0) })
    }
}

extension RecordReport.Grouping {
    /// The DRM system of an API, in SQL.
    static func drm(ofAPI column: String) -> String {
        let systems = LicenseRecordRow.drmOfAPI.map { "WHEN '\($0.key)' THEN '\($0.value)'" }.joined(separator: " ")
        return "CASE \(column) \(systems) ELSE '\(LicenseRecordRow.usualDRM)' END"
    }
}
