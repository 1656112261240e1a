import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

/// The record: figures, an account's history, concurrent viewers.
///
/// Source: `Documentation/Server/Reports.md` §4.
extension AdminAPI {
    static let reportRoutes: [Route<Page>] = [
        .page(
            .get, "/tenants/{tenant}/report", .viewer, "Licenses, renewals and refusals in the record, by group",
            query: figures, .json(RecordReportAnswer.schema).orCSV
        ) { try await $0.report(of: $0.tenant().name) },
        .page(
            .get, "/report", .viewer, of: .server, "The same over all tenants", query: figures,
            .json(RecordReportAnswer.schema).orCSV
        ) { try await $0.report(of: nil) },
        .page(
            .get, "/tenants/{tenant}/viewers", .viewer, "Concurrent sessions over time", query: times + [format],
            .json(RecordViewers.schema).orCSV
        ) { try await $0.viewers() },
        .page(
            .get, "/tenants/{tenant}/history", .viewer, "The outcomes of an account's requests, newest first",
            query: times + [AdminQuery("before", "The `next` of the previous page."), .limit] + filters(historyEvents),
            .json(.ranged(["recorded": .text, "rows": [LicenseRecordRow.schema]], optional: ["next": .text]))
                .orCSV
        ) { try await $0.history() },
    ]

    private static let figures =
        times + [
            AdminQuery(
                "by", "The member to group by.",
                JSONForm<RecordReport.Grouping>.word.schema.with(["default": .text("day")])),
            AdminQuery(
                "limit", "The maximum number of groups.",
                .whole.with(["minimum": .number(1), "maximum": .number(RecordReport.mostGroups)])),
            AdminQuery(
                "source", "`rows` reads rows where roll-ups would do: slower, and exact in every figure.",
                .words(RecordReportAnswer.Source.allCases.map(\.rawValue)).with(["default": .text("rollups")])),
        ] + filters(RecordReport.events)

    fileprivate static let historyEvents = RecordReport.events + [.end]

    private static let times = [
        AdminQuery("from", "The start of the range: a day or a time, in UTC. Defaults to seven days ago."),
        AdminQuery("to", "The end of the range."),
        AdminQuery("last", "Instead of both: the length of the range up to now, such as `24h` or `30d`."),
    ]

    private static let format = AdminQuery(
        "format", "`json`, or `csv` for a file.", .words(["json", "csv"]).with(["default": .text("json")]))

    private static func filters(_ events: [LicenseRecordRow.Event]) -> [AdminQuery] {
        [
            AdminQuery("account", "The account's name."),
            AdminQuery("recorded", "Instead of the name: the account as stored in the record."),
            AdminQuery("content", "Only this content."),
            AdminQuery("event", "Only this event.", .words(events.map(\.rawValue))),
            AdminQuery("code", "Only refusals of this code."), format,
        ]
    }
}

extension AdminCall {
    /// Figures: `?from&to&last&by&account&recorded&content&event&code&limit&source&format`.
    /// - Parameter tenant: `nil` for all tenants.
    fileprivate func report(of tenant: String?) async throws -> HTTPResponse {
        let (hour, day) = (Int64(3_600_000), Int64(86_400_000))
        var times = try times()
        let endsNow = try given("to") == nil
        // A long range that ends now begins with an hour, so that roll-ups have it.
        if try endsNow && given("from") == nil && times.upperBound - times.lowerBound >= day {
            times = times.lowerBound - times.lowerBound % hour..<times.upperBound
        }
        var report = RecordReport(of: tenant, times: times, by: try word("by") ?? .day)
        (report.endsNow, report.isExact) = (endsNow, try word("source") == RecordReportAnswer.Source.rows)
        report.account = try account(tenant)
        (report.content, report.code) = (try given("content"), try given("code"))
        report.event = try event(of: RecordReport.events)
        if let limit = try number("limit") {
            guard 1...UInt64(RecordReport.mostGroups) ~= limit else {
                throw AdminRefusal.stated("limit", "a number from 1 to \(RecordReport.mostGroups)")
            }
            report.limit = Int(limit)
        }
        let isCSV = try isCSV()
        let (answer, notes) = try await shared.recordQueries.report(report)
        guard isCSV else { return .admin(answer.json(of: report, notes)) }
        return .csv(answer.csv(of: report, notes), "report-by-\(report.grouping.rawValue)")
    }

    /// Concurrent viewers: `?from&to&last&format`.
    fileprivate func viewers() async throws -> HTTPResponse {
        let question = RecordViewers.Question(of: try tenant().name, times: try times())
        let isCSV = try isCSV()
        let (viewers, notes) = try await shared.recordQueries.viewers(question)
        return isCSV
            ? .csv(viewers.csv(of: question, notes), "viewers") : .admin(viewers.json(of: question, notes))
    }

    /// The outcomes of an account's requests, newest first: `?account` or `?recorded`, `&from&to&last&event&content&code&before&limit`.
    /// As CSV it is all of the range.
    fileprivate func history() async throws -> HTTPResponse {
        let tenant = try tenant().name
        guard let account = try account(tenant) else { throw AdminRefusal.stated("account", "an account's name") }
        var query = RecordQuery(times: try times(), limit: try limit())
        (query.tenant, query.account) = (tenant, account)
        (query.content, query.code) = (try given("content"), try given("code"))
        let events = AdminAPI.historyEvents
        query.events = try event(of: events).map { [$0] } ?? Set(events)
        if let text = try given("before") {
            guard let cursor = RecordCursor(text) else { throw AdminRefusal.stated("before", "a page's next") }
            query.before = cursor
        }
        let range = query.times
        query.narrow()
        guard try !isCSV() else { return try await historyCSV(query) }
        let (rows, standing, notes) = try await shared.recordQueries.rows(query)
        let members: [String: JSONValue?] = [
            "recorded": .text(account), "rows": .array(rows.map(\.shownJSON)),
            "next": rows.count < query.limit ? nil : rows.last.map { .text(RecordCursor($0).text) },
        ]
        return .admin(
            .members(members.merging(JSONValue.range(range, standing.asOf, notes)) { one, _ in one }))
    }

    /// All pages, one after the other. The first is requested before the answer begins, so that an outage of the record is a refusal; a
    /// later outage leaves the answer without an end.
    private func historyCSV(_ asked: RecordQuery) async throws -> HTTPResponse {
        var first = asked
        first.limit = 500
        let (queries, query) = (shared.recordQueries, first)
        let (rows, standing, notes) = try await queries.rows(query)
        let body = HTTPBodyStream { body in
            var (rows, query) = (rows, query)
            await body.write(Data(CSVText.row(LicenseRecordRow.columns + ["as of", "note"]).utf8))
            let asOf = RecordRange.text(standing.asOf)
            while !rows.isEmpty {
                let lines = rows.map { CSVText.row($0.csvFields + [asOf, ""]) }.joined()
                guard await body.write(Data(lines.utf8)) else { return }
                guard rows.count == query.limit, let last = rows.last else { break }
                query.before = RecordCursor(last)
                query.narrow()
                do { rows = try await queries.rows(query).0 } catch { return body.fail() }
            }
            for note in notes.sentences {
                await body.write(
                    Data(CSVText.row(LicenseRecordRow.columns.map { _ in "" } + [asOf, note]).utf8))
            }
        }
        return HTTPResponse(status: 200, headers: .csv("history"), body: .stream(body))
    }

    /// The range of the query. Defaults to the last seven days.
    private func times() throws -> Range<Int64> {
        let (from, to, last) = (try text("from"), try text("to"), try text("last"))
        do throws(Diagnosis) {
            return try RecordRange.times(from: from, to: to, last: last, at: shared.recordQueries.now)
        } catch { throw AdminRefusal(400, error.code, error.reason, error.remedy) }
    }

    /// The account as the record has it: `account` is its name, `recorded` its form in the record; `nil` without both.
    /// Names are of a tenant: a report over all tenants takes only the form in the record.
    private func account(_ tenant: String?) throws(AdminRefusal) -> String? {
        if let recorded = try given("recorded") { return recorded }
        // Of any length: the record has its own name for a long one.
        guard let name = request.queryValue("account"), !name.isEmpty else { return nil }
        guard let tenant else { throw .stated("account", "left out: it is a tenant's") }
        return shared.recordQueries.name(of: name, at: tenant)
    }

    /// A text of the query; `nil` if it is absent or empty.
    private func given(_ name: String) throws(AdminRefusal) -> String? {
        let text = try text(name)
        return text.isEmpty ? nil : text
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(AdminRefusal) -> Word? {
        guard let text = try given(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw .stated(name, Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    private func event(of events: [LicenseRecordRow.Event]) throws(AdminRefusal) -> LicenseRecordRow.Event? {
        guard let event: LicenseRecordRow.Event = try word("event") else { return nil }
        guard events.contains(event) else {
            throw .stated("event", events.map(\.rawValue).joined(separator: ", "))
        }
        return event
    }

    private func isCSV() throws(AdminRefusal) -> Bool {
        switch try given("format") {
        case nil, "json": return false
        case "csv": return true
        default: throw .stated("format", "json or csv")
        }
    }
}

extension RecordQuery {
    /// Ends the range where the page begins, so that no later row is read.
    fileprivate mutating func narrow() {
        guard let before else { return }
        let end = min(times.upperBound - 1, max(times.lowerBound, before.time)) + 1
        times = min(times.lowerBound, end)..<end
    }
}

extension HTTPResponse {
    /// A file of comma-separated values, sent as the client takes it.
    fileprivate static func csv(_ lines: [String], _ name: String) -> HTTPResponse {
        let body = HTTPBodyStream { body in
            for line in lines { guard await body.write(Data(line.utf8)) else { return } }
        }
        return HTTPResponse(status: 200, headers: .csv(name), body: .stream(body))
    }
}

extension HTTPHeaders {
    fileprivate static func csv(_ name: String) -> HTTPHeaders {
        [
            .contentType: "text/csv; charset=utf-8; header=present", .cacheControl: "no-store",
            "Content-Disposition": "attachment; filename=\"latchkey-\(name).csv\"", "X-Content-Type-Options": "nosniff",
        ]
    }
}
