import LatchkeyCore
import LatchkeyForms
import LatchkeyVault

// The admin API's forms of the record. Source: `Documentation/Server/Reports.md` §4.

extension JSONValue {
    /// A time in UTC.
    static func time(_ milliseconds: Int64) -> JSONValue { .text(RecordRange.text(milliseconds)) }

    /// Where a range begins and ends.
    static func range(_ times: Range<Int64>, _ asOf: Int64, _ notes: ReportNotes) -> [String: JSONValue] {
        [
            "from": .time(times.lowerBound), "to": .time(times.upperBound), "asOf": .time(asOf),
            "notes": .texts(notes.sentences),
        ]
    }
}

extension JSONSchema {
    /// The members together with those of `range`.
    static func ranged(_ members: [String: JSONSchema], optional: [String: JSONSchema] = [:]) -> JSONSchema {
        let range: [String: JSONSchema] = [
            "from": .date, "to": .date, "asOf": .date,
            "notes": .list(.text).explained("The rows and ranges that are not counted."),
        ]
        let required = members.merging(range) { one, _ in one }
        return .object(required.merging(optional) { one, _ in one }, required: Array(required.keys))
    }
}

extension RecordFigures {
    fileprivate static func schema(_ more: [String: JSONSchema] = [:]) -> JSONSchema {
        let figures = Dictionary(RecordFigures().named.map { ($0.name, JSONSchema.count) }) { one, _ in one }
        let members = figures.merging(more) { one, _ in one }
        return .object(members, required: ["licenses", "renewals", "refusals"] + Array(more.keys))
    }

    /// Without the figures that the source does not have.
    var json: [String: JSONValue] {
        Dictionary(named.compactMap { name, value in value.map { (name, .number($0)) } }) { one, _ in one }
    }
}

extension RecordReportAnswer.Group.Key {
    /// As people read it.
    var text: String {
        switch self {
        case .time(let time): RecordRange.text(time)
        case .text(let text): text
        }
    }
}

extension RecordReportAnswer {
    static let schema = JSONSchema.ranged([
        "by": JSONForm<RecordReport.Grouping>.word.schema, "groupCount": .count, "total": RecordFigures.schema(),
        "groups": [RecordFigures.schema(["group": .text])],
        "source": JSONForm<Source>.word.schema.explained("Where the figures come from."),
    ])

    func json(of report: RecordReport, _ notes: ReportNotes) -> JSONValue {
        let members: [String: JSONValue] = [
            "by": .text(report.grouping.rawValue), "source": .text(source.rawValue), "groupCount": .number(groupCount),
            "total": .object(total.json),
            "groups": .array(
                groups.map { group in
                    .object(group.figures.json.merging(["group": .text(group.key.text)]) { one, _ in one })
                }),
        ]
        return .object(members.merging(JSONValue.range(report.times, asOf, notes)) { one, _ in one })
    }

    /// The report as CSV. The last rows have no group: the total, and one for each note.
    func csv(of report: RecordReport, _ notes: ReportNotes) -> [String] {
        let range = [
            RecordRange.text(report.times.lowerBound), RecordRange.text(report.times.upperBound),
            RecordRange.text(asOf), source.rawValue,
        ]
        func row(_ kind: String, _ group: String, _ figures: RecordFigures) -> String {
            CSVText.row([kind, group] + figures.named.map { $0.value.map { "\($0)" } ?? "" } + range + [""])
        }
        let names = total.named.map(\.name)
        return [CSVText.row(["row", report.grouping.rawValue] + names + ["from", "to", "as of", "source", "note"])]
            + groups.map { row("group", $0.key.text, $0.figures) } + [row("total", "", total)]
            + notes.sentences.map { CSVText.row(["note", ""] + names.map { _ in "" } + range + [$0]) }
    }
}

extension RecordViewers {
    static let schema = JSONSchema.ranged(
        ["bucketSeconds": .count, "points": [["time": .date, "viewers": .count]]], optional: ["most": .count])

    func json(of question: Question, _ notes: ReportNotes) -> JSONValue {
        let members: [String: JSONValue?] = [
            "bucketSeconds": .number(Int(question.bucket / 1_000)),
            "most": points.map(\.most).max().map { .number($0) },
            "points": .array(points.map { .object(["time": .time($0.time), "viewers": .number($0.most)]) }),
        ]
        return .members(members.merging(JSONValue.range(question.times, asOf, notes)) { one, _ in one })
    }

    func csv(of question: Question, _ notes: ReportNotes) -> [String] {
        [CSVText.row(["time", "viewers", "bucket seconds", "as of", "note"])]
            + points.map {
                CSVText.row([
                    RecordRange.text($0.time), "\($0.most)", "\(question.bucket / 1_000)", RecordRange.text(asOf), "",
                ])
            } + notes.sentences.map { CSVText.row(["", "", "", RecordRange.text(asOf), $0]) }
    }
}

extension LicenseRecordRow {
    /// The members that are shown, in order; empty ones are left out of JSON.
    private var shown: [(name: String, text: String)] {
        [
            ("time", RecordRange.text(time)), ("event", event.rawValue), ("cause", cause?.rawValue ?? ""),
            ("account", account), ("device", device), ("address", address), ("country", country),
            ("content", content), ("kid", kid), ("api", api), ("kind", kind),
            ("seconds", seconds.map { "\($0)" } ?? ""), ("code", code), ("reason", reason), ("policy", policy),
            ("session", session), ("requestId", requestID), ("count", "\(count)"), ("node", position.node),
        ]
    }

    /// The names of the columns of CSV, and the row's fields.
    static let columns = LicenseRecordRow().shown.map(\.name)
    var csvFields: [String] { shown.map(\.text) }

    static let schema: JSONSchema = {
        var members = Dictionary(columns.map { ($0, JSONSchema.text) }) { one, _ in one }
        members.merge(["time": .date, "tenant": .text, "seconds": .count, "count": .count]) { $1 }
        return .object(members, required: ["event", "tenant", "time"]).named("Row")
            .explained("A row of the record; members that do not apply are absent.")
    }()

    /// The row without its decision.
    var shownJSON: JSONValue {
        var members = Dictionary(
            shown.filter { !$0.text.isEmpty }.map { ($0.name, JSONValue.text($0.text)) }
        ) { one, _ in one }
        members["seconds"] = seconds.map { .number($0) }
        members["count"] = count == 1 ? nil : .number(count)
        return .object(members.merging(["tenant": .text(tenant)]) { one, _ in one })
    }
}

extension RecordCursor {
    /// The cursor as an address has it: time, sequence, spool and node.
    var text: String { "\(time).\(position.sequence).\(position.spool).\(position.node)" }

    /// - Parameter text: the output of `text`. The result is `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let time = Int64(parts[0]), let sequence = UInt64(parts[1]) else { return nil }
        var row = LicenseRecordRow(time: time)
        row.position = RecordPosition(node: String(parts[3]), spool: String(parts[2]), sequence: sequence)
        self.init(row)
    }
}
