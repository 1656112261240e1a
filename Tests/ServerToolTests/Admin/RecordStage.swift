import Foundation
import LatchkeyCore
import LatchkeyTesting
import SwitchedStores

@testable import LatchkeyOperation
@testable import LatchkeyRecord
@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// A demonstration's server whose record is in memory, with an operator of each role.
struct RecordStage {
    /// Noon by the record's clock.
    static let now: Int64 = 1_795_780_800_000
    static let hour: Int64 = 3_600_000

    let record: SwitchedRecord
    let test: ServerUnderTest

    /// Runs a test with a server, and stops it in any case.
    /// - Parameter source: what there is to ask. Defaults to the record in memory.
    static func run(_ source: RecordDesk.Source? = nil, _ body: (RecordStage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let demo = try DemoFolder.patient(in: folder)
        try ServerUnderTest.replaceAdmins(in: demo.configuration)
        try await demo.makeTenants()
        let file = try ConfigurationFile(demo.configuration)
        var engines = try await ServerEngines.open(file)
        let record = SwitchedRecord { now }
        engines.recordSource = source ?? .reporter(record)
        let server = try await LicenseServer(file, lines: LineWriter { _ in }, engines: engines)
        let stage = RecordStage(record, ServerUnderTest(server: server, demo: demo, folder: folder))
        do { try await body(stage) } catch {
            record.set(.isAway)
            await server.stop(within: .zero)
            throw error
        }
        record.set(.isAway)
        await server.stop(within: .zero)
    }

    private init(_ record: SwitchedRecord, _ test: ServerUnderTest) { (self.record, self.test) = (record, test) }

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
