import Foundation
import LatchkeyCore
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyTesting
import Testing

@testable import LatchkeyServerTool
@testable import StoreProcesses

@Suite(.enabled(if: PostgreSQLProcess.programs != nil, "PostgreSQL is not installed"), .timeLimit(.minutes(2)))
struct MigrateVerbTests {
    @Test func `the owner's migration gives the servers' role what it needs, where the role is named`() async throws {
        let (root, server) = (try TemporaryFolder(), try await PostgreSQLProcess.shared.value)
        let database = try await server.database()
        let role = "r\(database)"
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: database)
        let folder = try DemoFolder.patient(in: root)
        let address = server.address(of: database, role: role).revealedText
        try ServerStage.edit(folder.configuration) {
            $0 = $0.replacing(#""keys": "sqlite:latchkey.db""#, with: #""keys": "\#(address)""#)
        }
        try #require(chmod(folder.configuration, 0o600) == 0)
        _ = try root.write(server.address(of: database).revealedText + "\n", to: "owner.txt", mode: 0o600)
        let words = ["migrate", "--config", folder.configuration, "--owner", root.path("owner.txt")]
        let create = ["tenant", "create", "demo", "--config", folder.configuration]
        let bare = await ToolRun(arguments: words)
        #expect(bare.status == .yes, "\(bare.error)")
        let refused = await ToolRun(arguments: create)
        #expect(refused.status == .no)
        let granting = await ToolRun(arguments: words + ["--grant", role])
        #expect(granting.status == .yes && granting.output.contains("The tables are there."), "\(granting.error)")
        let made = await ToolRun(arguments: create)
        #expect(made.status == .yes, "\(made.error)")
    }
}
