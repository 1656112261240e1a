import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

/// Copies batches over one connection. Belongs to one thread, which it blocks.
final class PostgreSQLCopier {
    private let hosts: PostgreSQLHosts
    private let limit: Duration
    private let digest: RecordErasure.Digest
    private var connection: PostgreSQLCopy?
    /// The days with partitions.
    private var days: Set<Int> = []

    init(_ hosts: PostgreSQLHosts, _ limit: Duration, _ digest: @escaping RecordErasure.Digest) {
        (self.hosts, self.limit, self.digest) = (hosts, limit, digest)
    }

    /// Copies the rows that the position of their spool does not cover, and moves it, in one transaction.
    /// - Returns: the new position.
    /// - Throws: `StoreError`. It is unknown then whether it was done; the next attempt learns it from the position.
    func copy(_ batch: RecordBatch) throws(StoreError) -> UInt64 {
        let isUsed = connection != nil
        do throws(StoreError) { return try attempt(batch) } catch {
            (connection, days) = (nil, [])
            // An idle connection may have ended long ago.
            guard isUsed, error.kind == .unavailable else { throw error }
        }
        do throws(StoreError) { return try attempt(batch) } catch {
            (connection, days) = (nil, [])
            throw error
        }
    }

    private func attempt(_ batch: RecordBatch) throws(StoreError) -> UInt64 {
        let connection = try connected()
        if let day = batch.lines.first?.day, !days.contains(day) {
            try connection.run("SELECT latchkey.make_record_day($1::date)", [PostgreSQLRecordSchema.dayText(day)])
            days.insert(day)
        }
        try connection.run(PostgreSQLRecordSchema.begin)
        let held = try connection.run(
            """
            INSERT INTO latchkey.record_positions (spool, node, sequence, seen) VALUES ($1, $2, 0, clock_timestamp())
            ON CONFLICT (spool) DO UPDATE SET seen = excluded.seen RETURNING sequence
            """, [batch.spool, batch.node])
        guard let position = held.flatMap({ UInt64($0) }) else {
            throw StoreError(
                .damaged, PostgreSQLStore.name, reason: "The record's position of a spool is not a number.")
        }
        let lines = batch.lines(after: position)
        guard let last = lines.last?.sequence else {
            try connection.run("COMMIT")
            return position
        }
        let known = RecordErasures(lines: try connection.run(PostgreSQLRecordSchema.erasures) ?? "")
        let rows = try rows(lines).map { row in known.isEmpty ? row : known.erased(row, digest) ?? row }
        try connection.run(
            "UPDATE latchkey.record_positions SET sequence = $2::bigint WHERE spool = $1", [batch.spool, "\(last)"])
        // The commit comes with the rows: a node that hangs keeps no roll-up locked that other nodes update.
        try connection.copy(
            "COPY latchkey.license_records (\(PostgreSQLRecordSchema.columns.joined(separator: ", "))) FROM STDIN; COMMIT",
            PostgreSQLRecordSchema.copyText(rows))
        return last
    }

    private func connected() throws(StoreError) -> PostgreSQLCopy {
        if let connection {
            connection.begin(within: limit)
            return connection
        }
        let connection = try PostgreSQLCopy.connect(hosts, within: limit)
        let milliseconds = Int(limit.inMilliseconds)
        // A node that hangs in the middle blocks its spool's position for this long at most.
        try connection.run(
            "SET synchronous_commit = on; SET lock_timeout = 5000; SET statement_timeout = \(milliseconds); "
                + "SET idle_in_transaction_session_timeout = \(milliseconds)")
        self.connection = connection
        return connection
    }

    private func rows(_ lines: ArraySlice<RecordBatch.Line>) throws(StoreError) -> [LicenseRecordRow] {
        var rows: [LicenseRecordRow] = []
        rows.reserveCapacity(lines.count)
        for line in lines {
            do throws(RecordRowError) { rows.append(try LicenseRecordRow(json: line.json)) } catch {
                throw StoreError(.unfit, PostgreSQLStore.name, reason: "A line is not a row: \(error.reason)")
            }
        }
        return rows
    }
}
