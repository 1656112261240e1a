import LatchkeyCore
import LatchkeyLicensing
import LatchkeyStores
import LatchkeySystem
import LatchkeyVault

extension ServerShared {
    /// Connects the open record to operators' reports, if there is one.
    /// - Throws: `StoreError` for an invalid address.
    func openReports(_ file: ConfigurationFile) throws(StoreError) {
        guard let record else { return }
        let destination = record.settings.destination
        var connection = RecordQueries.Connection(source: .none)
        if destination.hasPrefix("files:") {
            let reports = RecordFileReports(
                folder: file.path(String(destination.dropFirst(6))), timekeeper: timekeeper)
            (connection.source, connection.close) = (.reporter(reports), { reports.close() })
        } else if case .postgresql(let address)? = try? StoreAddress(destination), let reader = record.reader {
            let reports = try PostgreSQLRecordReports(address, reader: reader)
            (connection.source, connection.close) = (.reporter(reports), { reports.close() })
        }
        let (rows, spool, node) = (record.rows, record.spool, node)
        connection.recordedName = { rows.name(of: $0, at: $1) }
        connection.unshipped = {
            let standing = spool.standing
            return ReportNotes.Unshipped(node: node, rows: standing.rows, oldest: standing.oldest)
        }
        recordQueries.connect(connection)
    }
}
