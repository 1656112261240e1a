/// Counts rows that somebody reads one after the other, where no database does it.
///
/// Source: `Documentation/Server/Reports.md` §5.
package struct ReportCount: Sendable {
    private struct Count {
        var figures = RecordFigures()
        var rows = 0
        var accounts: Set<String> = []
        var devices: Set<String> = []
        var sessions: Set<String> = []

        mutating func add(_ row: LicenseRecordRow) {
            rows += row.count
            switch row.event {
            case .license: figures.licenses += row.count
            case .renewal: figures.renewals += row.count
            case .refusal: figures.refusals += row.count
            case .end, .viewers: break
            }
            if !row.account.isEmpty { accounts.insert(row.account) }
            if !row.device.isEmpty { devices.insert(row.device) }
            if !row.session.isEmpty { sessions.insert(row.session) }
        }

        var counted: RecordFigures {
            var figures = figures
            (figures.accounts, figures.devices, figures.sessions) = (accounts.count, devices.count, sessions.count)
            return figures
        }
    }

    private let report: RecordReport
    private var total = Count()
    private var groups: [RecordReportAnswer.Group.Key: Count] = [:]

    package init(_ report: RecordReport) { self.report = report }

    /// How many groups and different accounts, devices and sessions it holds.
    package var held: Int {
        groups.count + total.accounts.count + total.devices.count + total.sessions.count
    }

    /// Counts a row, if it is one of the report's.
    package mutating func add(_ row: LicenseRecordRow) {
        guard report.contains(row) else { return }
        total.add(row)
        groups[row.key(report.grouping), default: Count()].add(row)
    }

    /// The answer.
    /// - Parameter asOf: when the rows were read, in milliseconds since 1970.
    package func answer(asOf: Int64) -> RecordReportAnswer {
        let ordered: [(key: RecordReportAnswer.Group.Key, value: Count)]
        if report.grouping.milliseconds != nil {
            ordered = Array(groups.sorted { $0.key.order < $1.key.order }.suffix(report.limit))
        } else {
            ordered = Array(
                groups.sorted { ($1.value.rows, $0.key.order) < ($0.value.rows, $1.key.order) }.prefix(report.limit))
        }
        return RecordReportAnswer(
            groups: ordered.map { RecordReportAnswer.Group($0.key, $0.value.counted) }, total: total.counted,
            groupCount: groups.count, asOf: asOf)
    }
}

extension RecordReport {
    /// Whether a row is counted.
    package func contains(_ row: LicenseRecordRow) -> Bool {
        guard times.contains(row.time), Self.events.contains(row.event) else { return false }
        return row.tenant.utf8.elementsEqual(tenant.utf8) && (event ?? row.event) == row.event
            && [(account, row.account), (content, row.content), (code, row.code)].allSatisfy { wanted, held in
                wanted.map { $0.utf8.elementsEqual(held.utf8) } ?? true
            }
    }
}

extension LicenseRecordRow {
    /// What it has in common with the rows of its group.
    func key(_ grouping: RecordReport.Grouping) -> RecordReportAnswer.Group.Key {
        switch grouping {
        case .hour, .day:
            let length = grouping.milliseconds ?? 1
            return .time(time / length * length)
        case .content: return .text(content)
        case .account: return .text(account)
        case .device: return .text(device)
        case .country: return .text(country)
        case .code: return .text(code)
        case .policy: return .text(policy)
        case .node: return .text(position.node)
        case .api: return .text(api)
        }
    }
}

extension RecordReportAnswer.Group.Key {
    /// Times before texts; texts by their bytes, as a database orders them.
    fileprivate var order: Order {
        switch self {
        case .time(let time): Order(time: time, bytes: [])
        case .text(let text): Order(time: 0, bytes: Array(text.utf8))
        }
    }

    fileprivate struct Order: Comparable {
        let time: Int64
        let bytes: [UInt8]

        static func < (one: Order, other: Order) -> Bool {
            one.time == other.time ? one.bytes.lexicographicallyPrecedes(other.bytes) : one.time < other.time
        }
    }
}
