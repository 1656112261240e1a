import Foundation
package import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// Answers questions from the record in PostgreSQL, which does the counting, over connections that nothing else uses.
///
/// Different accounts, devices and sessions are distinguished by 64 bits of a hash: of 10,000,000 of them, one report in some 400,000
/// counts one too few.
///
/// Source: `Documentation/Server/Reports.md` §5.
package final class PostgreSQLRecordReports: RecordReporter {
    package let engine = PostgreSQLStore.name
    private let reader: any RecordReader
    private let pool: PostgreSQLPool
    /// For queries that take milliseconds, so that they wait for no report.
    private let quick: PostgreSQLPool
    private let limit: Duration

    /// Connects at the first question.
    /// - Parameters:
    ///   - address: `postgresql://…`.
    ///   - reader: reads the rows.
    ///   - limit: how long PostgreSQL may work on one question. Defaults to 45 s.
    /// - Throws: `StoreError` for an invalid address.
    package init(
        _ address: Secret, reader: any RecordReader, limit: Duration = .seconds(45)
    ) throws(StoreError) {
        (self.reader, self.limit) = (reader, limit)
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(address), isDurable: false, statementLimit: limit)
        pool = try PostgreSQLPool(setup, count: 2, name: "reports")
        quick = try PostgreSQLPool(setup, count: 1, name: "reach")
    }

    package func close() {
        pool.close()
        quick.close()
    }

    package func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow] {
        try await reader.rows(query)
    }

    package func report(_ report: RecordReport) async throws(StoreError) -> RecordReportAnswer {
        guard let rollups = PostgreSQLRollupReport(report) else { return try await counted(report) }
        guard let reach = try await quick.run(rollups.reach, within: min(limit, .seconds(5))).rows.first else {
            throw PostgreSQLFailure("XX000").error
        }
        let since = try reach.isNull(1) ? nil : reach.milliseconds(1)
        guard try reach.flag(0) else {
            var answer = try await counted(report)
            let begin = since.map { RecordRange.text($0) } ?? "an unknown time"
            answer.remarks = [
                "Rows were counted, because roll-ups begin at \(begin). “latchkey-server rollups rebuild” adds earlier ones."
            ]
            return answer
        }
        var answer = try await rolledUp(rollups, by: report.grouping)
        answer.oldest = reach.isNull(2) ? nil : max(try reach.milliseconds(2), since ?? .min)
        return answer
    }

    /// Reads roll-ups.
    private func rolledUp(
        _ report: PostgreSQLRollupReport, by grouping: RecordReport.Grouping
    ) async throws(StoreError) -> RecordReportAnswer {
        var answers = try await run(report.calls).dropFirst().makeIterator()
        let counts = answers.next()?.rows ?? []
        guard let first = counts.first else { throw PostgreSQLFailure("XX000").error }
        var (latency, latencies) = (LatencyCounts(), [String: LatencyCounts]())
        for row in report.hasLatency ? answers.next()?.rows ?? [] : [] {
            guard let bucket = Int(try row.text(1)) else { throw PostgreSQLFailure("XX000").error }
            let count = Int(clamping: try row.integer(2))
            latency.counts[bucket, default: 0] += count
            latencies[try row.text(0), default: LatencyCounts()].counts[bucket, default: 0] += count
        }
        var sketches: [String: [String: DistinctSketch]]?
        if report.hasSketches {
            var (read, whole) = ([String: [String: DistinctSketch]](), [String: DistinctSketch]())
            for row in answers.next()?.rows ?? [] {
                guard let sketch = DistinctSketch(try row.bytes(2)) else { throw PostgreSQLFailure("XX000").error }
                read[try row.text(0), default: [:]][try row.text(1), default: DistinctSketch()].merge(sketch)
            }
            for (figure, sketch) in read.values.joined() { whole[figure, default: DistinctSketch()].merge(sketch) }
            read[Self.all] = whole
            sketches = read
        }
        func figures(_ row: PostgreSQLRow, _ key: String) throws(StoreError) -> RecordFigures {
            var figures = RecordFigures()
            figures.licenses = Int(clamping: try row.integer(3))
            figures.renewals = Int(clamping: try row.integer(4))
            figures.refusals = Int(clamping: try row.integer(5))
            figures.latency = key == Self.all ? latency : latencies[key] ?? LatencyCounts()
            let known = key == Self.all || report.hasSketchesOfGroups ? sketches.map { $0[key] ?? [:] } : nil
            func distinct(_ name: String) -> Int? { known.map { $0[name]?.count ?? 0 } }
            (figures.accounts, figures.devices) = (distinct("accounts"), distinct("devices"))
            figures.sessions = distinct("sessions")
            return figures
        }
        var groups: [RecordReportAnswer.Group] = []
        for row in counts.dropFirst() {
            let text = try row.text(2)
            groups.append(RecordReportAnswer.Group(report.key(text), try figures(row, text)))
        }
        var answer = RecordReportAnswer(
            groups: grouping.milliseconds == nil ? groups : groups.reversed(), total: try figures(first, Self.all),
            groupCount: Int(clamping: try first.integer(1)) - 1, asOf: try first.milliseconds(0))
        answer.source = .rollups
        let error = (DistinctSketch.error * 1_000).rounded() / 10
        answer.remarks = [
            sketches == nil
                ? "Roll-ups count accounts, devices and sessions of whole days (UTC) without a filter only."
                : "Accounts, devices and sessions are estimates with a standard error of \(error) %."
        ]
        return answer
    }

    /// The key of the sum of all groups, which no group has.
    private static let all = "\0"

    /// Counts rows.
    private func counted(_ report: RecordReport) async throws(StoreError) -> RecordReportAnswer {
        let answer = try await run(report.statement)
        guard let first = answer.rows.first else { throw PostgreSQLFailure("XX000").error }
        var groups: [RecordReportAnswer.Group] = []
        for row in answer.rows.dropFirst() {
            let key: RecordReportAnswer.Group.Key =
                report.grouping.milliseconds == nil
                ? .text(try row.text(2)) : .time(RecordRange.milliseconds(try row.date(2)))
            groups.append(RecordReportAnswer.Group(key, try row.figures(from: 3)))
        }
        return RecordReportAnswer(
            groups: report.grouping.milliseconds == nil ? groups : groups.reversed(), total: try first.figures(from: 3),
            groupCount: Int(clamping: try first.integer(1)) - 1, asOf: RecordRange.milliseconds(try first.date(0)))
    }

    package func viewers(_ question: RecordViewers.Question) async throws(StoreError) -> RecordViewers {
        let answer = try await run(question.statement)
        guard let first = answer.rows.first else { throw PostgreSQLFailure("XX000").error }
        var points: [RecordViewers.Point] = []
        for row in answer.rows where !row.isNull(1) {
            points.append(.init(time: try row.integer(1), most: Int(clamping: try row.integer(2))))
        }
        return RecordViewers(points: points, asOf: RecordRange.milliseconds(try first.date(0)))
    }

    package func standing(of tenant: String?) async throws(StoreError) -> RecordStanding {
        let answer = try await quick.run(Self.standing(of: tenant), within: min(limit, .seconds(5)))
        guard let first = answer.rows.first else { throw PostgreSQLFailure("XX000").error }
        var nodes: [RecordStanding.Node] = []
        for row in answer.rows where !row.isNull(2) {
            nodes.append(.init(try row.text(2), newest: RecordRange.milliseconds(try row.date(3))))
        }
        return RecordStanding(
            oldest: first.isNull(1) ? nil : RecordRange.milliseconds(try first.date(1)), nodes: nodes,
            asOf: RecordRange.milliseconds(try first.date(0)))
    }

    private func run(_ call: PostgreSQLCall) async throws(StoreError) -> PostgreSQLAnswer {
        try await run([call]).last ?? PostgreSQLAnswer(rows: [], count: 0)
    }

    private func run(_ calls: [PostgreSQLCall]) async throws(StoreError) -> [PostgreSQLAnswer] {
        do { return try await pool.run(calls, within: limit + .seconds(2)) } catch {
            // A question that PostgreSQL itself gave up is too long: other ranges work.
            guard error.reason == PostgreSQLFailure("57014").error.reason else { throw error }
            throw StoreError(
                .unfit, engine, reason: "PostgreSQL did not count the range within \(limit.components.seconds) s.",
                remedy: "Ask for a shorter range, or for one content or account.")
        }
    }

    /// The first row of a tenant; without a tenant, the first day that has rows, without reading them. And each node with the time of its last
    /// shipment.
    private static func standing(of tenant: String?) -> PostgreSQLCall {
        let oldest =
            tenant == nil
            ? """
            SELECT min(begins) FROM (\(PostgreSQLRecordSchema.days)) AS kept WHERE pg_relation_size(part) > 0
            """ : "SELECT time FROM latchkey.license_records WHERE tenant = $1 ORDER BY time LIMIT 1"
        return PostgreSQLCall(
            tenant == nil ? "record-standing" : "record-standing-tenant",
            """
            SELECT now(), (\(oldest)), node, newest FROM (SELECT) AS always LEFT JOIN (
                SELECT node, max(seen) AS newest FROM latchkey.record_positions GROUP BY node) AS nodes ON true
            """, tenant.map { [.text($0)] } ?? [])
    }
}

/// The reports' needs of the database, besides the record's own tables.
enum PostgreSQLReportSchema {
    static let statements = [
        """
        CREATE INDEX IF NOT EXISTS license_records_viewers ON latchkey.license_records (tenant, time)
        WHERE event = 'viewers'
        """
    ]
}

extension PostgreSQLRow {
    /// A time in milliseconds since 1970.
    fileprivate func milliseconds(_ column: Int) throws(StoreError) -> Int64 {
        RecordRange.milliseconds(try date(column))
    }

    /// Six numbers, starting at a column.
    fileprivate func figures(from column: Int) throws(StoreError) -> RecordFigures {
        var figures = RecordFigures()
        figures.licenses = Int(clamping: try integer(column))
        figures.renewals = Int(clamping: try integer(column + 1))
        figures.refusals = Int(clamping: try integer(column + 2))
        figures.accounts = Int(clamping: try integer(column + 3))
        figures.devices = Int(clamping: try integer(column + 4))
        figures.sessions = Int(clamping: try integer(column + 5))
        return figures
    }
}

extension RecordReport {
    /// Its statement: one row for all, then one for each listed group, in one pass over the rows.
    var statement: PostgreSQLCall {
        var values: [PostgreSQLValue] = [
            .record(times.lowerBound), .record(times.upperBound),
            .array(.text, (event.map { [$0] } ?? Self.events).map { .text($0.rawValue) }),
            .integer(Int64(limit) + 1),
        ]
        var conditions = ""
        for (column, text) in [("tenant", tenant), ("account", account), ("content", content), ("code", code)] {
            guard let text else { continue }
            values.append(.text(text))
            conditions += " AND \(column) = $\(values.count)"
        }
        // So that the index of accounts applies.
        if account?.isEmpty == false { conditions += " AND account <> ''" }
        let order = grouping.milliseconds == nil ? "sum(count) DESC, part" : "part DESC"
        let sql = """
            SELECT now(), count(*) OVER (), part,
                coalesce(sum(count) FILTER (WHERE event = 'license'), 0)::bigint,
                coalesce(sum(count) FILTER (WHERE event = 'renewal'), 0)::bigint,
                coalesce(sum(count) FILTER (WHERE event = 'refusal'), 0)::bigint,
                count(DISTINCT account), count(DISTINCT device), count(DISTINCT session)
            FROM (
                SELECT \(grouping.column) AS part, event, count, hashtextextended(nullif(account, ''), 0) AS account,
                    hashtextextended(nullif(device, ''), 0) AS device, hashtextextended(nullif(session, ''), 0) AS session
                FROM latchkey.license_records
                WHERE time >= $1 AND time < $2 AND event = ANY ($3)\(conditions)) AS counted
            GROUP BY GROUPING SETS ((), (part)) ORDER BY grouping(part) DESC, \(order) LIMIT $4
            """
        // Each name always has the same text: one for each set of conditions.
        let given = [tenant, account, content, code].map { $0 == nil ? "0" : $0?.isEmpty == true ? "1" : "2" }.joined()
        return PostgreSQLCall("record-report-\(grouping.rawValue)-\(given)", sql, values)
    }
}

extension RecordReport.Grouping {
    /// The value that the rows of one group share, in SQL. Texts by their bytes.
    fileprivate var column: String {
        switch self {
        case .hour: "date_trunc('hour', time, 'UTC')"
        case .day: "date_trunc('day', time, 'UTC')"
        case .drm: "\(Self.drm(ofAPI: "api")) COLLATE \"C\""
        case .content, .account, .device, .country, .code, .policy, .node, .api, .tenant: "\(rawValue) COLLATE \"C\""
        }
    }
}

extension RecordViewers.Question {
    /// Its statement: a row for each bucket that was counted; one without a bucket if none was.
    var statement: PostgreSQLCall {
        PostgreSQLCall(
            "record-viewers",
            """
            SELECT now(), bucket, most FROM (SELECT) AS always LEFT JOIN (
                SELECT floor(extract(epoch FROM time) * 1000 / $4)::bigint * $4 AS bucket, max(count) AS most
                FROM latchkey.license_records
                WHERE time >= $1 AND time < $2 AND tenant = $3 AND event = 'viewers' GROUP BY 1) AS found ON true
            ORDER BY bucket
            """,
            [.record(times.lowerBound), .record(times.upperBound), .text(tenant), .integer(bucket)])
    }
}

extension PostgreSQLValue {
    /// A time of the record, in milliseconds since 1970.
    fileprivate static func record(_ milliseconds: Int64) -> Self { .date(RecordRange.date(milliseconds)) }
}
