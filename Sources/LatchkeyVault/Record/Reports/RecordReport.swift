import Foundation
import LatchkeyCore

/// A query of the record: which counts, grouped how, for which time and tenant.
///
/// Counts licenses, renewals and refusals; ends of sessions and concurrent sessions have other queries.
///
/// Source: `Documentation/Server/Reports.md` §1.
package struct RecordReport: Sendable, Hashable {
    /// The property that the rows of one group share. The raw values are stable.
    package enum Grouping: String, Sendable, Hashable, CaseIterable {
        /// The hour or the day by UTC.
        case hour, day
        case content, account, device, country, code, policy, node, api
        /// The DRM system, derived from the API.
        case drm
        case tenant

        /// The length of a group's time, in milliseconds; `nil` for groupings other than time.
        package var milliseconds: Int64? {
            switch self {
            case .hour: 3_600_000
            case .day: 86_400_000
            default: nil
            }
        }
    }

    /// The events that are counted.
    package static let events: [LicenseRecordRow.Event] = [.license, .renewal, .refusal]
    /// The most groups that an answer has.
    package static let mostGroups = 10_000

    /// Milliseconds since 1970. The upper bound is excluded.
    package var times: Range<Int64>
    package var grouping: Grouping
    /// `nil` for all tenants.
    package var tenant: String?
    /// As the record has it: under pseudonyms, the pseudonym. `nil` for all, as with the next ones.
    package var account: String?
    package var content: String?
    package var event: LicenseRecordRow.Event?
    package var code: String?
    /// The most groups in the answer, from 1 to `mostGroups`: of times the latest, of all others those with the most rows.
    package var limit: Int
    /// Whether rows are read where roll-ups would do: all figures are exact then.
    package var isExact = false
    /// Whether the range ends now, so that no row is later than its hour.
    package var endsNow = false

    package init(
        of tenant: String?, times: Range<Int64>, by grouping: Grouping = .day, limit: Int = RecordReport.mostGroups
    ) {
        (self.tenant, self.times, self.grouping) = (tenant, times, grouping)
        self.limit = min(max(1, limit), Self.mostGroups)
    }
}

/// The counts of a report.
package struct RecordFigures: Sendable, Hashable {
    package var licenses = 0
    package var renewals = 0
    package var refusals = 0
    /// The number of different non-empty accounts in the rows; `nil` if roll-ups do not have it.
    package var accounts: Int? = 0
    package var devices: Int? = 0
    package var sessions: Int? = 0
    /// The latency of licenses and renewals, which only roll-ups have.
    package var latency = LatencyCounts()

    package init() {}

    /// The names and the numbers, in display order.
    package var named: [(name: String, value: Int?)] {
        [
            ("licenses", licenses), ("renewals", renewals), ("refusals", refusals), ("accounts", accounts),
            ("devices", devices), ("sessions", sessions), ("p50Microseconds", latency.percentile(50)),
            ("p95Microseconds", latency.percentile(95)), ("p99Microseconds", latency.percentile(99)),
        ]
    }
}

/// How many licenses took how long.
package struct LatencyCounts: Sendable, Hashable {
    /// Counts by bucket: one for each eighth of a doubling of microseconds.
    package var counts: [Int: Int] = [:]

    package init() {}

    /// The middle of the bucket that a percentage of the licenses reach; `nil` without licenses.
    package func percentile(_ percent: Int) -> Int? {
        let total = counts.values.reduce(0, +)
        var (reached, needed) = (0, Double(total) * Double(percent) / 100)
        for (bucket, count) in counts.sorted(by: { $0.key < $1.key }) {
            reached += count
            if Double(reached) >= needed { return Int(saturating: exp2((Double(bucket) + 0.5) / 8)) }
        }
        return nil
    }
}

/// The record's answer to a report.
package struct RecordReportAnswer: Sendable, Hashable {
    /// One group of rows.
    package struct Group: Sendable, Hashable {
        /// The value that the rows share: a time in milliseconds since 1970, or a text, which may be empty.
        package enum Key: Sendable, Hashable {
            case time(Int64)
            case text(String)
        }

        package let key: Key
        package let figures: RecordFigures

        package init(_ key: Key, _ figures: RecordFigures) { (self.key, self.figures) = (key, figures) }
    }

    /// Times in their order; others by their rows, those with the most first.
    package let groups: [Group]
    /// Of all groups, listed or not.
    package let total: RecordFigures
    /// How many groups there are.
    package let groupCount: Int
    /// When the record was asked, in milliseconds since 1970, by its own clock.
    package let asOf: Int64
    package var unread = UnreadLines()
    package var source = Source.rows
    /// The time before which the roll-ups have nothing; `nil` if rows were read.
    package var oldest: Int64?
    /// The engine's sentences about the figures.
    package var remarks: [String] = []

    /// The source of the figures. The raw values are stable.
    package enum Source: String, Sendable, Hashable, CaseIterable {
        case rollups, rows
    }

    package init(groups: [Group], total: RecordFigures, groupCount: Int, asOf: Int64) {
        (self.groups, self.total, self.groupCount, self.asOf) = (groups, total, groupCount, asOf)
    }

    /// Whether some groups are not listed.
    package var isCut: Bool { groups.count < groupCount }
}

/// The numbers of concurrent viewers of a tenant.
package struct RecordViewers: Sendable, Hashable {
    /// The question.
    package struct Question: Sendable, Hashable {
        package let tenant: String
        /// Milliseconds since 1970.
        package let times: Range<Int64>
        /// The length of one point's time, in milliseconds.
        package let bucket: Int64

        /// Chooses the shortest bucket that gives at most 300 points.
        package init(of tenant: String, times: Range<Int64>) {
            (self.tenant, self.times) = (tenant, times)
            let minutes: [Int64] = [1, 5, 15, 60, 360, 1_440, 10_080]
            let length = max(0, times.upperBound - times.lowerBound)
            bucket = (minutes.first { length / ($0 * 60_000) <= 300 } ?? 10_080) * 60_000
        }
    }

    /// One point.
    package struct Point: Sendable, Hashable {
        /// The start of the bucket, in milliseconds since 1970.
        package let time: Int64
        /// The highest count in it.
        package let most: Int

        package init(time: Int64, most: Int) { (self.time, self.most) = (time, most) }
    }

    /// In the order of time. A missing bucket was not counted, which does not mean zero viewers.
    package let points: [Point]
    package let asOf: Int64
    package var unread = UnreadLines()

    package init(points: [Point], asOf: Int64) { (self.points, self.asOf) = (points, asOf) }
}
