import Foundation
package import LatchkeyCore
import LatchkeyForms
package import LatchkeySystem
package import LatchkeyVault

/// The record in PostgreSQL: rows come by COPY, and the position of their spool with them in one transaction.
///
/// It has its own connections: one that copies, and one that reads.
///
/// Source: `Documentation/Server/Record.md` §3.1.
package final class PostgreSQLRecord: RecordDestination, RecordReader {
    /// A batch and its callback.
    private struct Job: Sendable {
        let batch: RecordBatch
        let promise: Promise<UInt64, StoreError>
    }

    package let engine = PostgreSQLStore.name
    package let interval = Duration.milliseconds(250)
    private let pool: PostgreSQLPool
    private let inbox = WorkInbox<Job>(limit: 4)
    private let limit: Duration
    private let days: Int?

    /// Connects when there is something to do.
    /// - Parameters:
    ///   - address: `postgresql://…`.
    ///   - days: how many days to keep, for its findings. Defaults to all.
    ///   - digest: finds erased accounts in rows. Defaults to none.
    ///   - limit: how long a batch or a page may take. Defaults to 15 s.
    /// - Throws: `StoreError` for an invalid address.
    package init(
        _ address: Secret, days: Int? = nil, digest: @escaping RecordErasure.Digest = { _, _ in nil },
        limit: Duration = .seconds(15)
    ) throws(StoreError) {
        (self.days, self.limit) = (days, limit)
        let hosts = try PostgreSQLHosts(address)
        let setup = PostgreSQLLane.Setup(hosts: hosts, isDurable: true, statementLimit: limit)
        pool = try PostgreSQLPool(setup, count: 1, name: "record")
        let inbox = inbox
        let thread = Thread {
            let copier = PostgreSQLCopier(hosts, limit, digest)
            while let jobs = inbox.next(atMost: 1) {
                for job in jobs {
                    do throws(StoreError) {
                        job.promise.resolve(.success(try copier.copy(job.batch)))
                    } catch {
                        job.promise.resolve(.failure(error))
                    }
                }
            }
        }
        thread.name = "latchkey-record"
        thread.start()
    }

    deinit { close() }

    package func close() {
        inbox.close()
        pool.close()
    }

    package func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64 {
        let promise = Promise<UInt64, StoreError>()
        guard inbox.add(Job(batch: batch, promise: promise)) else {
            throw StoreError(
                .unavailable, engine, reason: "The record's connection was closed, or has pending batches.")
        }
        let outcome = await withCheckedContinuation { done in
            promise.whenResolved { done.resume(returning: $0) }
        }
        return try outcome.get()
    }

    package func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int {
        for day in today...today + 2 {
            _ = try await pool.run(
                PostgreSQLCall(
                    "record-make-day", "SELECT latchkey.make_record_day($1::date)",
                    [.text(PostgreSQLRecordSchema.dayText(day))]),
                within: limit)
        }
        _ = try await pool.run(
            PostgreSQLCall("rollups-keep", "SELECT latchkey.\(PostgreSQLRollupSchema.keep)"), within: limit)
        guard let days else { return 0 }
        // The database determines the days: a node's clock may be wrong.
        let answer = try await pool.run(
            PostgreSQLCall(
                "record-keep-days", "SELECT latchkey.keep_record_days($1)", [.integer(Int64(clamping: days))]),
            within: limit)
        let gone = Int(clamping: try answer.rows.first?.integer(0) ?? 0)
        if gone == 0, let finding = try await retention(days) { throw finding }
        return gone
    }

    /// Why the tables keep more days than configured; `nil` if they do not.
    private func retention(_ days: Int) async throws(StoreError) -> StoreError? {
        let answer = try await pool.run(
            PostgreSQLCall("record-retention", "SELECT days FROM latchkey.record_retention"), within: limit)
        let least = try answer.rows.first?.integer(0)
        if let least, least <= days { return nil }
        let words = least.map { "keeps at least \($0) days of the record" } ?? "never drops days of the record"
        return StoreError(
            .misconfigured, engine,
            reason: "The database \(words), as set by its tables' owner, but record.days is \(days).",
            remedy: "Run latchkey-server migrate as the tables' owner, with record.days in its configuration.")
    }

    package func erase(_ erasure: RecordErasure) async throws(StoreError) -> Int {
        let values: [PostgreSQLValue] = [
            .array(.text, erasure.digests.map { .text($0) }), .date(RecordRange.date(erasure.end)),
        ]
        return try await number(
            "record-erase", "SELECT latchkey.erase_record_account($1, $2, $3, $4)", erasure, values)
    }

    package func count(_ erasure: RecordErasure) async throws(StoreError) -> Int {
        let sql = """
            SELECT count(*) FROM latchkey.license_records
            WHERE tenant = $1 AND account = ANY ($2) AND account <> '' AND time < $3
            """
        return try await number("record-erasable", sql, erasure, [.date(RecordRange.date(erasure.end))])
    }

    /// The answer to a statement about an account: its tenant, its names, and more values.
    private func number(
        _ name: String, _ sql: String, _ erasure: RecordErasure, _ more: [PostgreSQLValue]
    ) async throws(StoreError) -> Int {
        let names = PostgreSQLValue.array(.text, erasure.accounts.map { .text($0) })
        let answer = try await pool.run(
            PostgreSQLCall(name, sql, [.text(erasure.tenant), names] + more), within: limit)
        return Int(clamping: try answer.rows.first?.integer(0) ?? 0)
    }

    package func findings() async -> [StoreError] {
        let sql = """
            SELECT object || ' ' || wanted FROM unnest($1::text[], $2::text[]) AS need (object, wanted)
            WHERE NOT coalesce(CASE WHEN wanted = 'EXECUTE'
                THEN has_function_privilege(to_regprocedure(object)::oid, wanted)
                ELSE has_table_privilege(to_regclass(object)::oid, wanted) END, false)
            """
        let needs = [
            ("license_records", "SELECT"), ("license_records", "INSERT"), ("record_positions", "SELECT"),
            ("record_positions", "INSERT"), ("record_positions", "UPDATE"),
            ("record_retention", "SELECT"), ("record_erasures", "SELECT"),
            (PostgreSQLRecordSchema.makeDay, "EXECUTE"), (PostgreSQLRecordSchema.keepDays, "EXECUTE"),
            (PostgreSQLRecordSchema.erase, "EXECUTE"),
            ("rollups", "SELECT"), ("sketches", "SELECT"), ("rollup_state", "SELECT"),
            (PostgreSQLRollupSchema.keep, "EXECUTE"),
        ]
        do throws(StoreError) {
            let answer = try await pool.run(
                PostgreSQLCall(
                    "record-check", sql,
                    [.array(.text, needs.map { .text("latchkey.\($0.0)") }), .array(.text, needs.map { .text($0.1) })]),
                within: .seconds(5))
            var missing: [String] = []
            for row in answer.rows { missing.append(String(decoding: try row.bytes(0), as: UTF8.self)) }
            guard !missing.isEmpty else {
                try await PostgreSQLStore.probe(
                    pool, commits: pool, .record, .read, within: PostgreSQLStore.patience)
                guard let days, let finding = try await retention(days) else { return [] }
                return [finding]
            }
            return [
                StoreError(
                    .misconfigured, engine,
                    reason:
                        "The role of PostgreSQL lacks rights that the record needs: \(missing.joined(separator: ", ")).",
                    remedy: "Run latchkey-server migrate as the tables' owner with --grant.")
            ]
        } catch {
            return [error]
        }
    }

    package func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow] {
        var values: [PostgreSQLValue] = []
        func bind(_ value: PostgreSQLValue) -> String {
            values.append(value)
            return "$\(values.count)"
        }
        func time(_ milliseconds: Int64) -> String {
            "'epoch'::timestamptz + \(bind(.integer(milliseconds))) * interval '1 millisecond'"
        }
        var parts = ["time >= \(time(query.times.lowerBound))", "time < \(time(query.times.upperBound))"]
        let texts = [
            ("tenant", query.tenant), ("account", query.account), ("device", query.device), ("content", query.content),
            ("country", query.country), ("code", query.code), ("request_id", query.requestID),
            ("session", query.session),
        ]
        for (column, text) in texts { if let text { parts.append("\(column) = \(bind(.text(text)))") } }
        // So that the index of accounts applies.
        if query.account != nil { parts.append("account <> ''") }
        if !query.events.isEmpty {
            let events = query.events.map(\.rawValue).sorted().map { PostgreSQLValue.text($0) }
            parts.append("event = ANY (\(bind(.array(.text, events))))")
        }
        if let before = query.before {
            let position = before.position
            parts.append(
                "(time, node COLLATE \"C\", spool COLLATE \"C\", sequence) < (\(time(before.time)), \(bind(.text(position.node))), \(bind(.text(position.spool))), \(bind(.integer(Int64(clamping: position.sequence)))))"
            )
        }
        let names = PostgreSQLRecordSchema.columns.dropFirst().joined(separator: ", ")
        let sql = """
            SELECT round(extract(epoch FROM time) * 1000)::bigint, \(names)
            FROM latchkey.license_records WHERE \(parts.joined(separator: " AND "))
            ORDER BY time DESC, node COLLATE "C" DESC, spool COLLATE "C" DESC, sequence DESC
            LIMIT \(bind(.integer(Int64(max(0, query.limit)))))
            """
        // Each name always has the same text: one for each set of conditions.
        let name = "record-rows-\(parts.joined().hashValue)"
        let answer = try await pool.run(PostgreSQLCall(name, sql, values), within: limit)
        var rows: [LicenseRecordRow] = []
        for row in answer.rows { rows.append(try row.recordRow()) }
        return rows
    }
}

extension PostgreSQLRow {
    /// The row of the record in the order of its columns, with the time in milliseconds.
    fileprivate func recordRow() throws(StoreError) -> LicenseRecordRow {
        func text(_ column: Int) throws(StoreError) -> String { String(decoding: try bytes(column), as: UTF8.self) }
        guard let event = LicenseRecordRow.Event(rawValue: try text(4)) else {
            throw StoreError(.damaged, PostgreSQLStore.name, reason: "The record has an event of a later version.")
        }
        var row = LicenseRecordRow(event, time: try integer(0))
        row.position = RecordPosition(
            node: try text(1), spool: try text(2), sequence: UInt64(clamping: try integer(3)))
        row.cause = LicenseRecordRow.Cause(rawValue: try text(5))
        row.count = Int(clamping: try integer(6))
        (row.tenant, row.account, row.device) = (try text(7), try text(8), try text(9))
        (row.address, row.country, row.content) = (try text(10), try text(11), try text(12))
        (row.kid, row.api, row.kind) = (try text(13), try text(14), try text(15))
        row.seconds = isNull(16) ? nil : Int(clamping: try integer(16))
        (row.policy, row.policyDigest, row.session) = (try text(17), try text(18), try text(19))
        (row.requestID, row.code, row.reason) = (try text(20), try text(21), try text(22))
        row.microseconds = isNull(23) ? nil : Int(clamping: try integer(23))
        row.decision = isNull(24) ? nil : try text(24)
        return row
    }
}
