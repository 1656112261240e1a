import LatchkeyCore

/// Counts rows that are read one after the other, where no database counts them.
///
/// Source: `Documentation/Server/Reports.md` §5.
package struct ReportCount: Sendable {
    private struct Count {
        var figures = RecordFigures()
        var rows = 0
        var accounts: Set<ByteText> = []
        var devices: Set<ByteText> = []
        var sessions: Set<ByteText> = []

        /// - Returns: the number of new names that it holds.
        mutating func add(_ row: LicenseRecordRow) -> Int {
            rows += row.count
            switch row.event {
            case .license: figures.licenses += row.count
            case .renewal: figures.renewals += row.count
            case .refusal: figures.refusals += row.count
            case .end, .viewers: break
            }
            var more = 0
            if !row.account.isEmpty, accounts.insert(ByteText(text: row.account)).inserted { more += 1 }
            if !row.device.isEmpty, devices.insert(ByteText(text: row.device)).inserted { more += 1 }
            if !row.session.isEmpty, sessions.insert(ByteText(text: row.session)).inserted { more += 1 }
            return more
        }

        var counted: RecordFigures {
            var figures = figures
            (figures.accounts, figures.devices, figures.sessions) = (accounts.count, devices.count, sessions.count)
            return figures
        }
    }

    private let report: RecordReport
    private var total = Count()
    private var groups: [ReportKey: Count] = [:]
    private var names = 0

    package init(_ report: RecordReport) { self.report = report }

    /// How many groups it holds, and different accounts, devices and sessions, of all rows and of each group.
    package var held: Int { groups.count + names }

    /// Counts a row, if it is one of the report's.
    package mutating func add(_ row: LicenseRecordRow) {
        guard report.contains(row) else { return }
        names += total.add(row)
        names += groups[row.key(report.grouping), default: Count()].add(row)
    }

    /// The answer.
    /// - Parameter asOf: when the rows were read, in milliseconds since 1970.
    package func answer(asOf: Int64) -> RecordReportAnswer {
        let ordered: [(key: ReportKey, value: Count)]
        if report.grouping.milliseconds != nil {
            ordered = Array(groups.sorted { $0.key < $1.key }.suffix(report.limit))
        } else {
            let sorted = groups.sorted {
                $0.value.rows == $1.value.rows ? $0.key < $1.key : $0.value.rows > $1.value.rows
            }
            ordered = Array(sorted.prefix(report.limit))
        }
        return RecordReportAnswer(
            groups: ordered.map { RecordReportAnswer.Group($0.key.shown, $0.value.counted) }, total: total.counted,
            groupCount: groups.count, asOf: asOf)
    }
}

extension RecordReport {
    /// Whether a row is counted.
    func contains(_ row: LicenseRecordRow) -> Bool {
        guard times.contains(row.time), Self.events.contains(row.event), (event ?? row.event) == row.event else {
            return false
        }
        let wanted = [(tenant, row.tenant), (account, row.account), (content, row.content), (code, row.code)]
        return wanted.allSatisfy { wanted, held in wanted.map { $0.equalsByteForByte(held) } ?? true }
    }
}

extension LicenseRecordRow {
    /// The value that it shares with the rows of its group.
    fileprivate func key(_ grouping: RecordReport.Grouping) -> ReportKey {
        switch grouping {
        case .hour, .day:
            let length = grouping.milliseconds ?? 1
            return .time(time - time % length)
        case .content: return .text(ByteText(text: content))
        case .account: return .text(ByteText(text: account))
        case .device: return .text(ByteText(text: device))
        case .country: return .text(ByteText(text: country))
        case .code: return .text(ByteText(text: code))
        case .policy: return .text(ByteText(text: policy))
        case .node: return .text(ByteText(text: position.node))
        case .api: return .text(ByteText(text: api))
        case .drm: return .text(ByteText(text: drm))
        case .tenant: return .text(ByteText(text: tenant))
        }
    }
}

/// The value that distinguishes one group from another.
private enum ReportKey: Hashable, Comparable {
    case time(Int64)
    case text(ByteText)

    var shown: RecordReportAnswer.Group.Key {
        switch self {
        case .time(let time): .time(time)
        case .text(let text): .text(text.text)
        }
    }
}

/// A text that is compared by its bytes, as in a database.
private struct ByteText: Hashable, Comparable {
    let text: String

    static func == (one: ByteText, other: ByteText) -> Bool { one.text.equalsByteForByte(other.text) }

    static func < (one: ByteText, other: ByteText) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
