import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import StoreProcesses
@testable import TestServers

@Suite(.enabled(if: PostgreSQLProcess.programs != nil, "PostgreSQL is not installed"), .timeLimit(.minutes(2)))
struct MigrateVerbTests {
    @Test func `the owner's migration grants the server role its rights if the role is named`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let database = try await server.database()
        let role = "r\(database)"
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: database)
        let folder = try ServerFolder(["stores.keys": .text(server.address(of: database, role: role).revealedText)])
        try #require(chmod(folder.configuration, 0o600) == 0)
        let owner = try folder.root.write(
            server.address(of: database).revealedText + "\n", to: "owner.txt", mode: 0o600)
        let words = ["migrate", "--config", folder.configuration, "--owner", owner]
        let create = ["tenant", "create", "demo", "--config", folder.configuration]
        let bare = await ToolRun(arguments: words)
        #expect(bare.status == .yes, "\(bare.error)")
        let refused = await ToolRun(arguments: create)
        #expect(refused.status == .no)
        let granting = await ToolRun(arguments: words + ["--grant", role])
        #expect(granting.status == .yes && granting.output.contains("The tables exist."), "\(granting.error)")
        let made = await ToolRun(arguments: create)
        #expect(made.status == .yes, "\(made.error)")
    }

    @Test func `the owner's configuration sets how many days the record keeps`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let database = try await server.database()
        let address = server.address(of: database).revealedText
        let folder = try ServerFolder(["record": ["folder": "spool", "destination": .text(address)]])
        for (member, days) in [(400, [Int64(400)]), (nil, []), (30, [30])] as [(JSONValue?, [Int64])] {
            try folder.edit(["record.days": member])
            try #require(chmod(folder.configuration, 0o600) == 0)
            let run = await ToolRun(arguments: ["migrate", "--config", folder.configuration])
            #expect(run.status == .yes, "\(run.error)")
            let rows = try await server.query("SELECT days FROM latchkey.record_retention", in: database)
            #expect(try rows.map { try $0.integer(0) } == days)
        }
    }

    @Test func `the owner rebuilds roll-ups and sets how long they stay`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let database = try await server.database()
        let address = server.address(of: database).revealedText
        let folder = try ServerFolder(["record": ["folder": "spool", "destination": .text(address)]])
        try #require(chmod(folder.configuration, 0o600) == 0)
        let words = ["--config", folder.configuration]
        let missing = await ToolRun(arguments: ["rollups", "rebuild"] + words)
        #expect(missing.status == .no && missing.error.contains("latchkey-server migrate"), "\(missing.error)")
        #expect(await ToolRun(arguments: ["migrate"] + words).status == .yes)
        try await server.query("SELECT latchkey.make_record_day('2026-11-01')", in: database)
        let none = await ToolRun(arguments: ["rollups", "rebuild"] + words)
        #expect(none.status == .yes && none.output == "No rows need to be counted.\n", "\(none.error)")
        let days = await ToolRun(
            arguments: ["rollups", "rebuild", "--from", "2026-11-01", "--to", "2026-11-02"] + words)
        #expect(days.status == .yes && days.output.contains("Rebuilt from 2026-11-01T00:00:00Z."), "\(days.error)")
        let owner = try folder.root.write("\(address)\n", to: "owner.txt", mode: 0o600)
        let keep = await ToolRun(arguments: ["rollups", "keep", "--days", "3660", "--owner", owner] + words)
        #expect(keep.status == .yes && keep.output.contains("3660 days"), "\(keep.error)")
        let rows = try await server.query("SELECT days FROM latchkey.rollup_state", in: database)
        #expect(try rows.map { try $0.integer(0) } == [3_660])
        for bad in [["--from", "2026-11-01"], ["--from", "2026-11-01T05:00:00Z", "--to", "2026-11-02"]] {
            #expect(await ToolRun(arguments: ["rollups", "rebuild"] + bad + words).status == .usage, "\(bad)")
        }
        #expect(await ToolRun(arguments: ["rollups", "keep", "--days", "0"] + words).status == .usage)
        try folder.edit(["record.destination": "files:rows"])
        let files = await ToolRun(arguments: ["rollups", "rebuild"] + words)
        #expect(files.status == .no && files.error.contains("Only a record in PostgreSQL"), "\(files.error)")
    }
}
