import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing
import LatchkeySystem
package import LatchkeyVault

/// The record of a running server: makes rows, keeps them in the spool, and has them shipped.
///
/// Source: `Documentation/Server/Record.md`.
package final class LicenseRecord: Sendable {
    let settings: ServerSettings.Record
    let rows: RecordRows
    package let spool: RecordSpool
    /// Reads the rows of all nodes; `nil` for a destination that others read.
    package let reader: (any RecordReader)?
    let health: EngineHealth
    private let destination: any RecordDestination
    let shipper: RecordShipper
    private let metrics: ServerMetrics
    private let log: ServerLog
    private let timekeeper: any Timekeeper
    private let refusalLimit = RefusalRowLimit()
    private let shipping = Locked<Task<Void, Never>?>(nil)

    /// Opens the folder, with the rows that a former process left. Blocks.
    /// - Throws: `FileError`.
    init(
        _ settings: ServerSettings.Record, folder: String, node: String, to destination: any RecordDestination,
        pseudonyms: UserPseudonyms, metrics: ServerMetrics, log: ServerLog, timekeeper: any Timekeeper,
        disk: SpoolDisk = SpoolDisk()
    ) throws {
        (self.settings, self.destination, self.metrics, self.log) = (settings, destination, metrics, log)
        self.timekeeper = timekeeper
        rows = RecordRows(settings, pseudonyms)
        reader = destination as? any RecordReader
        var spoolSettings = RecordSpool.Settings()
        spoolSettings.bytes = settings.megabytes << 20
        spoolSettings.sync = settings.sync == .always ? .always : .written
        spoolSettings.disk = disk
        spool = try RecordSpool(folder: folder, node: node, spoolSettings, date: timekeeper.date) {
            Self.tell($0, settings.sync, metrics, log)
        }
        health = EngineHealth(EngineRole.record.rawValue, engine: destination.engine, timekeeper: timekeeper)
        shipper = RecordShipper(
            spool, folder: folder, to: destination, health: health, days: settings.days, timekeeper: timekeeper
        ) { Self.tell($0, metrics, log) }
        metrics.recordSpoolLimit.set(Double(spoolSettings.bytes))
    }

    /// Begins to ship.
    func start() { shipping.withLock { [shipper] in $0 = startTask { await shipper.run() } } }

    /// Keeps the rows of a request that was answered, and waits until they are kept.
    /// - Returns: whether the reply may be sent.
    func keep(_ report: LicenseReport, _ viewer: LicenseRequestFacts) async -> Bool {
        let made = rows.rows(of: report, viewer, at: timekeeper.date, timekeeper.uptime)
        guard let first = made.first else { return true }
        for row in made.dropFirst() { post(row) }
        let kept = within(first, report)
        for row in kept.dropLast() { post(row) }
        guard let last = kept.last else { return true }
        let start = timekeeper.uptime
        let outcome = await spool.append(last)
        metrics.recordRows[last.event.rawValue].add()
        metrics.recordWait.observe(timekeeper.uptime - start)
        if outcome == .late { metrics.recordLate.add() }
        // A row that is late is in memory, and says that there was a license.
        guard case .lost = outcome, last.event == .license || last.event == .renewal else { return true }
        return settings.whenFull == .serve
    }

    /// Keeps the rows of a request whose reply need not wait: one that was turned away.
    func note(_ report: LicenseReport, _ viewer: LicenseRequestFacts) {
        for row in rows.rows(of: report, viewer, at: timekeeper.date, timekeeper.uptime) {
            for row in within(row, report) { post(row) }
        }
    }

    /// Notes the end of a session by an operator or another service, not by its player.
    func end(_ session: String, of account: String, at tenant: String, _ cause: LicenseRecordRow.Cause) {
        post(rows.end(session, of: account, at: tenant, cause, timekeeper.date))
    }

    /// Erases an account from the rows of all nodes, however they name it, including rows that this node's destination refused.
    /// - Parameter isTrial: whether it only counts.
    /// - Returns: the number of rows in the destination, and of refused ones.
    func erase(_ erasure: RecordErasure, isTrial: Bool) async throws -> (rows: Int, refused: Int) {
        let rows = try await isTrial ? destination.count(erasure) : destination.erase(erasure)
        let refused = try await shipper.erase(erasure, isTrial: isTrial)
        return (rows, refused)
    }

    /// Notes the number of concurrent sessions of tenants.
    func viewers(_ counts: [String: Int]) {
        let time = Int64(saturating: timekeeper.date.timeIntervalSince1970 * 1_000)
        for (tenant, count) in counts.sorted(by: { $0.key < $1.key }) {
            var row = LicenseRecordRow(.viewers, time: time)
            (row.tenant, row.count) = (tenant, count)
            post(row)
        }
    }

    /// Whether licenses are refused now because their rows could not be kept.
    var refuses: Bool { settings.whenFull == .refuse && spool.standing.isFull }

    /// Keeps the rows of refusals beyond the share. Call it each second.
    func flushShare() { for row in refusalLimit.take(at: timekeeper.uptime) { post(row) } }

    /// Fills in the record's metrics.
    func fillMetrics() {
        let standing = spool.standing
        metrics.recordSpoolRows.set(Double(standing.rows))
        metrics.recordSpoolBytes.set(Double(standing.bytes))
        let now = timekeeper.date.timeIntervalSince1970
        metrics.recordOldest.set(standing.oldest.map { max(0, now - Double($0) / 1_000) } ?? 0)
    }

    /// Keeps waiting rows, ships the rows that it can in a moment, and closes.
    package func close(within limit: Duration = .seconds(2)) async {
        for row in refusalLimit.take(at: nil) { post(row) }
        await spool.close()
        let task = shipping.withLock { $0 }
        task?.cancel()
        // Rows that are not shipped now, the next start ships.
        let isOver: Void? = try? await withDeadline(limit, SystemTimekeeper(), expired: { CancellationError() }) {
            [shipper] in
            await task?.value
            if task != nil { await shipper.finish() }
        }
        if isOver != nil { spool.leaveFolder() }
        destination.close()
    }

    /// The rows to keep now, the request's own last. A refusal that cost its sender nothing has a share, so that a client cannot fill the
    /// disk with refusals; beyond the share, it has no separate row.
    private func within(_ row: LicenseRecordRow, _ report: LicenseReport) -> [LicenseRecordRow] {
        guard row.event == .refusal, report.record == nil else { return [row] }
        return refusalLimit.rows(of: row, at: timekeeper.uptime)
    }

    private func post(_ row: LicenseRecordRow) {
        spool.post(row)
        metrics.recordRows[row.event.rawValue].add()
    }
}

// MARK: - What operators learn

extension LicenseRecord {
    private static func tell(
        _ event: RecordSpool.Event, _ sync: ServerSettings.Record.Sync, _ metrics: ServerMetrics, _ log: ServerLog
    ) {
        switch event {
        case .kept: break
        case .lost(let loss, let count, let reason):
            metrics.recordLost[loss.rawValue].add(UInt64(count))
            var entry = LogEntry(.error, .record, message: loss.words(count, reason))
            entry.reason = "recordLost"
            log.write(entry)
        case .hangs:
            log.write(
                LogEntry(
                    .error, .record,
                    message:
                        "The disk of the record's folder hangs: rows wait in memory, and licenses do not wait for their rows."
                ))
        case .unsynced(let reason):
            log.write(
                LogEntry(
                    .error, .record,
                    message: "The disk may have lost some of the record's rows: \(reason). Check the disk."))
        case .damaged(let file, let bytes, let rows, let isEnd):
            // Until the disk has a row, its license is not sent: a license whose row a crash tore was never delivered.
            let wasNeverAcknowledged = isEnd && sync == .always
            if !wasNeverAcknowledged { metrics.recordLost["damaged"].add(UInt64(clamping: rows)) }
            let torn = "A crash truncated the last row of \(file): \(bytes) bytes were dropped."
            let words =
                wasNeverAcknowledged
                ? "\(torn) Its license was not sent, unless the disk hung."
                : isEnd
                    ? "\(torn) Its license may have been sent."
                    : "\(file) has \(bytes) bytes missing or changed: "
                        + "\(rows.counted("row")) of the record \(rows == 1 ? "was" : "were") lost. Check the disk."
            var entry = LogEntry(wasNeverAcknowledged ? .warning : .error, .record, message: words)
            if !wasNeverAcknowledged { entry.reason = "recordLost" }
            log.write(entry)
        }
    }

    private static func tell(_ event: RecordShipper.Event, _ metrics: ServerMetrics, _ log: ServerLog) {
        switch event {
        case .shipped(let count): metrics.recordShipped.add(UInt64(count))
        case .refused(let file, let error):
            metrics.recordLost["refused"].add()
            log.write(
                LogEntry(
                    .error, .record,
                    message: "The record's destination rejects a row, which was moved to \(file). \(error.reason)"))
        case .dropped(let days):
            log.write(LogEntry(.info, .record, message: "Expired days of the record were dropped: \(days)."))
        case .failed(let error): log.write(LogEntry(.record, error))
        }
    }
}

extension RecordSpool.Loss {
    fileprivate func words(_ count: Int, _ reason: String) -> String {
        let lost = "\(count.counted("row")) of the record \(count == 1 ? "was" : "were") lost"
        return switch self {
        case .full: "\(lost): the spool has reached record.megabytes. Check that its destination responds."
        case .failed: "\(lost): the disk does not accept them. \(reason) Free space, or check the disk."
        case .stuck: "\(lost): the disk hangs, and memory is full. Check the disk."
        case .closed: "\(lost): the process was ending."
        }
    }
}

/// The refusals a second with separate rows; the rest of a kind is one row with their number.
final class RefusalRowLimit: Sendable {
    private struct Kind: Hashable {
        let tenant, api, code: String
    }

    private struct State {
        var second: Int64 = 0
        var count = 0
        /// The number of rows of each tenant.
        var counts: [String: Int] = [:]
        var more: [Kind: LicenseRecordRow] = [:]
    }

    static let perSecond = 500
    /// The rows guaranteed to each tenant, however many others have.
    static let perTenant = 50
    /// Codes and tenants come from the code and the configuration; still, memory is bounded.
    private static let kinds = 1_000
    private let state = Locked(State())

    /// The rows to keep now: the refusal's, if it is within the share, and the rows of a past second.
    func rows(of row: LicenseRecordRow, at uptime: Duration) -> [LicenseRecordRow] {
        let former = take(at: uptime)
        return state.withLock { state in
            state.count += 1
            state.counts[row.tenant, default: 0] += 1
            guard state.count > Self.perSecond, state.counts[row.tenant, default: 0] > Self.perTenant else {
                return former + [row]
            }
            let kind = Kind(tenant: row.tenant, api: row.api, code: row.code)
            guard state.more[kind] != nil || state.more.count < Self.kinds else { return former + [row] }
            var more = state.more[kind] ?? row
            if state.more[kind] == nil {
                (more.count, more.requestID, more.account, more.session) = (0, "", "", "")
                (more.address, more.country, more.device, more.kid, more.microseconds) = ("", "", "", "", nil)
            }
            more.count += 1
            state.more[kind] = more
            return former
        }
    }

    /// The rows of a past second.
    /// - Parameter uptime: now; `nil` also returns the rows of this second.
    func take(at uptime: Duration?) -> [LicenseRecordRow] {
        state.withLock { state in
            let second = uptime.map { Int64(saturating: $0.inSeconds.rounded(.down)) }
            guard second != state.second else { return [] }
            defer { state = State(second: second ?? state.second) }
            return state.more.values.sorted { ($0.tenant, $0.api, $0.code) < ($1.tenant, $1.api, $1.code) }
        }
    }
}
