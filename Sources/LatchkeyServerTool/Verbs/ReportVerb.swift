import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTerminal
import LatchkeyVault

/// `latchkey-server report`: figures from the record of licenses, of all nodes.
struct ReportVerb: Verb {
    private let address = OperatorAddress(code: "notReported")
    private let tenant = Option("tenant", .text("NAME"), "the tenant; defaults to the only one")
    private let allTenants = Flag("all-tenants", "over all tenants, for operators of all tenants")
    private let exact = Flag("exact", "count rows where roll-ups would do: slower, and exact in every figure")
    private let from = Option(
        "from", .text("TIME"), "the start: a day, 2026-11-01, or a time, 2026-11-01T18:00:00Z, in UTC")
    private let to = Option("to", .text("TIME"), "the end: the last day, or the time at which it ends; defaults to now")
    private let last = Option(
        "last", .text("TIME"), "the length of the range, such as 90m, 24h or 7d; defaults to 7d")
    private let by = Option("by", .choice(ReportVerb.groupings), "the grouping, one line each; defaults to day")
    private let event = Option("event", .text("WORD"), "only license, renewal or refusal; with --history also end")
    private let account = Option("account", .text("NAME"), "only this account, by its name in the tokens")
    private let content = Option("content", .text("NAME"), "only this content")
    private let code = Option("code", .text("CODE"), "only refusals with this code")
    private let limit = Option("limit", .count, "the maximum number of lines; defaults to 50")
    private let viewers = Flag("viewers", "concurrent viewers instead of licenses")
    private let history = Flag("history", "the outcome of each request of --account, newest first")
    private let before = Option(
        "before", .text("NEXT"), "with --history: earlier requests, from the position that a previous run printed")
    private let csv = Flag("csv", "print everything as CSV, without a limit unless --limit is given")

    private static let groupings: KeyValuePairs<String, RecordReport.Grouping> = [
        "hour": .hour, "day": .day, "content": .content, "account": .account, "device": .device, "country": .country,
        "code": .code, "policy": .policy, "node": .node, "api": .api, "drm": .drm, "tenant": .tenant,
    ]
    /// The most bytes of an answer.
    private static let most = 256 << 20

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "report", summary: "count licenses, renewals and refusals of all nodes",
            details: """
                Queries the record of licenses through a running server. Each report states its time and any gaps: rows that
                nodes have not shipped, days before the record begins, groups that are not listed.
                """,
            options: [
                tenant, allTenants, from, to, last, by, event, account, content, code, limit, viewers, history, before,
            ]
                + address.options + [exact, csv, Flag.json],
            examples: [
                "latchkey-server report --last 7d",
                "latchkey-server report --from 2026-11-01 --to 2026-11-30 --by content --csv",
                "latchkey-server report --from 2026-11-01 --to 2026-11-30 --by tenant --all-tenants --csv",
                "latchkey-server report --last 24h --by code --event refusal",
                "latchkey-server report --account ann --history --last 30d",
                "latchkey-server report --viewers --last 24h --json",
            ],
            yes: "the report was printed",
            no: "the record has no answer or cannot be reached; the reason is on standard error")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (isViewers, isHistory, isCSV) = (arguments[viewers], arguments[history], arguments[csv])
        guard !isViewers || !isHistory else { throw UsageError("--viewers and --history exclude each other.") }
        guard !isCSV || !arguments[Flag.json] else { throw UsageError("--csv and --json exclude each other.") }
        guard !isHistory || arguments[account] != nil else { throw UsageError("--history needs --account.") }
        guard isHistory || arguments[before] == nil else { throw UsageError("--before needs --history.") }
        let isOfAll = arguments[allTenants]
        guard !isOfAll || !isViewers && !isHistory && arguments[tenant] == nil else {
            throw UsageError("--all-tenants excludes --tenant, --viewers and --history.")
        }
        var query = [
            ("from", arguments[from] ?? ""), ("to", arguments[to] ?? ""), ("last", arguments[last] ?? ""),
            ("format", isCSV ? "csv" : ""),
        ]
        if !isViewers {
            query += [
                ("account", arguments[account] ?? ""), ("event", arguments[event] ?? ""),
                ("content", arguments[content] ?? ""), ("code", arguments[code] ?? ""),
                ("limit", arguments[limit].map { "\($0)" } ?? (isCSV ? "" : "50")),
                ("before", arguments[before] ?? ""), ("by", isHistory ? "" : arguments[by]?.rawValue ?? ""),
                ("source", arguments[exact] && !isHistory ? "rows" : ""),
            ]
        }
        let what = isViewers ? "viewers" : isHistory ? "history" : "report"
        let path = isOfAll ? [what] : ["tenants", try await name(arguments, console), what]
        let reply = try await address.ask(
            "GET", path, query: query, limit: Self.most, arguments, console)
        if isCSV {
            console.output.write(reply)
            return .yes
        }
        guard let value = JSONValue(reply) else {
            throw Diagnosis(
                code: "notReported", reason: "The server's reply is not a report.",
                remedy: "Give the operators' address of a latchkey-server of this version.")
        }
        if arguments[Flag.json] {
            console.print(value.canonicalText)
        } else {
            for line in isViewers ? value.viewerLines : isHistory ? value.historyLines : value.reportLines {
                console.print(line)
            }
        }
        return .yes
    }

    /// The tenant that was named, or the only one.
    private func name(_ arguments: Arguments, _ console: Console) async throws -> String {
        if let tenant = arguments[tenant] { return tenant }
        let reply = JSONValue(try await address.ask("GET", ["tenants"], arguments, console))
        let names = reply?.list("tenants").compactMap { $0["name"]?.text } ?? []
        guard let only = names.first, names.count == 1 else {
            throw UsageError("--tenant is needed: the server has \(names.joined(separator: ", ")).")
        }
        return only
    }
}

extension JSONValue {
    fileprivate func list(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }

    private func count(_ name: String) -> String {
        self[name]?.number.flatMap { Int64(exactly: $0) }.map { "\($0)" } ?? "–"
    }

    /// The range, the time of reading, and notes of missing data.
    private var standing: [String] {
        let times = ["from", "to", "asOf"].map { self[$0]?.text ?? "–" }
        let source = self["source"]?.text.map { ["Source: \($0)."] } ?? []
        return ["From \(times[0]) to \(times[1]), as of \(times[2])."] + source + (self["notes"]?.texts ?? [])
    }

    fileprivate var reportLines: [String] {
        let names = RecordFigures().named.map(\.name).filter { self["total"]?[$0] != nil }
        let titles = names.map { $0.uppercased().replacing("MICROSECONDS", with: " µs") }
        let by = self["by"]?.text ?? "group"
        let rows = list("groups").map { group in
            [group["group"]?.text?.shortTime(by) ?? "–"] + names.map(group.count)
        }
        let total = ["all"] + names.map { self["total"]?.count($0) ?? "–" }
        return [
            TextTable(
                rows: [[by.uppercased()] + titles] + rows
                    + [total]
            ).text
        ] + standing
    }

    fileprivate var viewerLines: [String] {
        let rows = list("points").map { [$0["time"]?.text ?? "–", $0.count("viewers")] }
        guard !rows.isEmpty else {
            return ["Viewers were not counted in this range: nodes count once a minute."] + standing
        }
        return [TextTable(rows: [["FROM", "VIEWERS"]] + rows).text]
            + ["At most \(count("most")) concurrent viewers; each line is the maximum of \(count("bucketSeconds")) s."]
            + standing
    }

    fileprivate var historyLines: [String] {
        let members = ["time", "event", "content", "device", "country", "code", "reason", "requestId"]
        let rows = list("rows").map { row in members.map { row[$0]?.text ?? "" } }
        guard !rows.isEmpty else { return ["The record has no requests of this account in this range."] + standing }
        let titles = ["TIME", "EVENT", "CONTENT", "DEVICE", "PLACE", "CODE", "REASON", "REQUEST"]
        let more = self["next"]?.text.map { ["Earlier requests: --before \($0)"] } ?? []
        return [TextTable(rows: [titles] + rows).text] + more + standing
    }
}

extension String {
    /// A day, or an hour, of a group of such.
    fileprivate func shortTime(_ by: String) -> String {
        switch by {
        case "day": String(prefix(10))
        case "hour": String(prefix(16))
        default: isEmpty ? "(none)" : self
        }
    }
}
