import Foundation

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// A demonstration's server whose record is in memory, with an operator of each role.
struct RecordStage {
    /// Noon by the record's clock.
    static let now: Int64 = 1_795_780_800_000
    static let hour: Int64 = 3_600_000

    let record: SwitchedRecord
    let test: TestServer

    /// - Parameter source: the record to query. Defaults to the record in memory.
    init(_ source: RecordQueries.Source? = nil) async throws {
        let record = SwitchedRecord { Self.now }
        self.record = record
        test = try await TestServer(record: source ?? .reporter(record))
    }

    /// A row of the tenant `demo`.
    static func row(
        _ event: LicenseRecordRow.Event, at time: Int64, account: String = "ann", content: String = "film",
        code: String = "", request: String = "", node: String = "node-a", number: UInt64 = 1
    ) -> LicenseRecordRow {
        var row = LicenseRecordRow(event, time: time)
        (row.tenant, row.account, row.content) = ("demo", account, content)
        (row.code, row.requestID, row.device, row.country) = (code, request, "d-\(account)", "DE")
        row.position = RecordPosition(node: node, spool: "0011223344556677", sequence: number)
        return row
    }

    /// A range with all rows.
    static let range = "from=2026-11-20T00:00:00Z&to=2026-11-28T00:00:00Z"
}
