import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
package import LatchkeyVault

/// Where operators ask the record, on connections and threads that no license uses.
///
/// Source: `Documentation/Server/Reports.md`.
package final class RecordQueries: Sendable {
    /// The most queries in progress, not counting tenants that have less than their share of them.
    static let mostQuestions = 4
    /// The most rows of a page, and how many a request's name may have.
    static let mostRows = 10

    /// The source of answers.
    package enum Source: Sendable {
        /// The server keeps no record.
        case none
        case reporter(any RecordReporter)
    }

    /// A server's record, with the node's facts about it.
    struct Connection: Sendable {
        var source: Source
        /// The record's name for an account of a tenant: the name itself, or a pseudonym.
        var recordedName: @Sendable (_ account: String, _ tenant: String) -> String = { account, _ in
            account.storedAccount
        }
        /// The rows that this node has not shipped yet; `nil` if it ships nothing.
        var unshipped: @Sendable () -> ReportNotes.Unshipped? = { nil }
        var close: @Sendable () -> Void = {}
    }

    private let connection: Locked<Connection>
    private let timekeeper: any Timekeeper
    private let running = Locked(TenantShares())

    /// - Parameter source: the source until a record is connected.
    init(_ source: Source, timekeeper: any Timekeeper) {
        connection = Locked(Connection(source: source))
        self.timekeeper = timekeeper
    }

    /// Asks this from now on.
    func connect(_ new: Connection) { connection.withLock { $0 = new } }

    /// Gives connections and threads back, and asks nothing any more.
    func close() {
        let former = connection.withLock { connection in
            defer { connection = Connection(source: .none) }
            return connection
        }
        former.close()
    }

    /// Whether the server keeps a record that can be asked.
    var canBeAsked: Bool {
        if case .reporter = connection.withLock({ $0.source }) { true } else { false }
    }

    var now: Date { timekeeper.date }

    /// How the record names an account.
    func name(of account: String, at tenant: String) -> String {
        connection.withLock { $0 }.recordedName(account, tenant)
    }

    /// Counts, and notes the rows that are not counted.
    func report(_ report: RecordReport) async throws -> (RecordReportAnswer, ReportNotes) {
        try await ask(of: report.tenant) { reporter in
            let standing = try await reporter.standing(of: report.tenant)
            let answer = try await reporter.report(report)
            return (answer, self.notes(on: report.times, standing, answer.unread, answer, report.grouping))
        }
    }

    func viewers(_ question: RecordViewers.Question) async throws -> (RecordViewers, ReportNotes) {
        try await ask(of: question.tenant) { reporter in
            let standing = try await reporter.standing(of: question.tenant)
            let viewers = try await reporter.viewers(question)
            return (viewers, self.notes(on: question.times, standing, viewers.unread))
        }
    }

    /// A page of rows, the newest first, and notes of missing rows.
    func rows(_ query: RecordQuery) async throws -> ([LicenseRecordRow], RecordStanding, ReportNotes) {
        try await ask(of: query.tenant) { reporter in
            let standing = try await reporter.standing(of: query.tenant)
            let (rows, unread) = try await reporter.page(query)
            return (rows, standing, self.notes(on: query.times, standing, unread))
        }
    }

    /// The record's rows of a request, the newest first, and how far the record reaches.
    /// - Parameter scope: the tenants; other tenants' rows are not read.
    func rows(ofRequest id: String, of scope: TenantScope) async throws -> ([LicenseRecordRow], RecordStanding) {
        var query = RecordQuery(times: 0..<RecordRange.milliseconds(now) + 86_400_000, limit: Self.mostRows)
        query.requestID = id
        guard case .listed(let names) = scope else {
            let (rows, standing, _) = try await rows(query)
            return (rows, standing)
        }
        var latest = RecordStanding(oldest: nil, nodes: [], asOf: RecordRange.milliseconds(now))
        for name in names.sorted() {
            query.tenant = name
            let (rows, standing, _) = try await rows(query)
            guard rows.isEmpty else { return (rows, standing) }
            latest = standing
        }
        return ([], latest)
    }

    private func notes(
        on times: Range<Int64>, _ standing: RecordStanding, _ unread: UnreadLines, _ answer: RecordReportAnswer? = nil,
        _ grouping: RecordReport.Grouping? = nil
    ) -> ReportNotes {
        ReportNotes(
            on: times, standing, unshipped: connection.withLock { $0 }.unshipped(), unread: unread, answer: answer,
            grouping: grouping)
    }

    /// - Parameter tenant: the tenant whose share the query uses; `nil` for one about all tenants, which have one share together.
    private func ask<Answer>(
        of tenant: String?, _ question: (any RecordReporter) async throws -> Answer
    ) async throws -> Answer {
        let reporter: any RecordReporter
        switch connection.withLock({ $0.source }) {
        case .none: throw AdminRefusal.noRecord
        case .reporter(let one): reporter = one
        }
        guard running.withLock({ $0.begin(tenant, within: Self.mostQuestions) }) else { throw AdminRefusal.busyRecord }
        defer { running.withLock { $0.end(tenant) } }
        do { return try await question(reporter) } catch let error as StoreError {
            throw AdminRefusal.record(error)
        }
    }
}

extension AdminRefusal {
    static let noRecord = Self(
        404, "recordNone", "The server keeps no record of licenses.",
        "Set record in server.json as described in Documentation/Server/Record.md, and restart the nodes.")
    static let busyRecord = Self(
        503, "recordBusy", "\(RecordQueries.mostQuestions) queries of the record are already running.",
        "Try again in a moment.")

    /// A record that does not answer, or cannot answer that.
    static func record(_ error: StoreError) -> Self {
        error.kind == .unfit
            ? Self(400, "recordUnfit", error.reason, error.remedy)
            : Self(
                503, "recordAway", "The record did not respond: \(error.reason) Licenses are not affected.",
                error.remedy)
    }

    /// The same, with the node that may know a request while the record does not answer.
    func asking(_ node: String?, butNot own: String) -> Self {
        let hint = node.flatMap { $0 == own ? nil : " The node \($0.onOneLine) may still have the request; ask it." }
        return Self(
            status, code, "The request is not among this node's recent ones, and the record was not read. \(reason)",
            remedy + (hint ?? ""))
    }

    /// A request that neither this node nor the record knows.
    static func notInRecord(_ request: String, _ standing: RecordStanding, by node: String) -> Self {
        let reach =
            standing.oldest.map { "which goes back to \(RecordRange.text($0))" } ?? "which has no rows yet"
        let reason = "The request is not among this node's recent ones, and not in the record, \(reach)."
        guard let wanted = RequestID(request)?.node else {
            return Self(
                404, "decisionNotRecorded", reason,
                "Check the identifier; a row reaches the record some seconds after the request.")
        }
        guard let other = standing.nodes.first(where: { RequestID.nodeName($0.name) == wanted }) else {
            return Self(
                404, "decisionNotRecorded", reason,
                "The request's node, \(wanted.onOneLine), has no rows in the record; ask that node.")
        }
        return Self(
            404, "decisionNotRecorded", reason,
            "The node \(other.name.onOneLine) answered it, and last shipped rows at \(RecordRange.text(other.newest)): "
                + (other.name == node ? "try again in a moment." : "try again in a moment, or ask that node."))
    }
}
