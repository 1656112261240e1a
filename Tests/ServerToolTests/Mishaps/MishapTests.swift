import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import StoreProcesses
@testable import TestServers

/// Every engine × every mishap × everything that watches engines, with real engines and a real server.
///
/// The reports are in the table of `Documentation/Server/Outages.md`; a row here and a row there belong together.
@Suite(.timeLimit(.minutes(3)), .enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
struct MishapTests {
    /// How often a server looks until it reports the fault.
    private static let looks = 2_000

    @Test(arguments: Mishap.all)
    func `each watcher reports a mishap as long as it lasts, and then its end`(_ mishap: Mishap)
        async throws
    { try await Self.play(mishap) }

    @Test(.enabled(if: PgBouncerProcess.isInstalled, "PgBouncer is not installed."), arguments: Mishap.ofPoolers)
    func `each watcher reports a pooler's mishap correctly`(_ mishap: Mishap) async throws {
        try await Self.play(mishap)
    }

    @Test(
        .enabled(if: SmallDisk.isPossible, "A small disk needs root or sudo, and a right to mount."),
        arguments: Mishap.ofDisks)
    func `each watcher reports a full disk correctly`(_ mishap: Mishap) async throws { try await Self.play(mishap) }

    private static func play(_ mishap: Mishap) async throws {
        let row = try #require(try MishapPage.rows[mishap.testDescription], "The page has no row of it.")
        let stage = try await mishap.stage()
        let node = try await TestServer(stage.folder, limits: mishap.limits)
        try await node.importKeys(1...1)
        try await node.importKeys(2...2)
        #expect(try await node.license(1).status == 200)
        #expect(try await watch(stage, node, mishap) { $0 == .well } == .well)
        let calm = try await ServerCheck(stage.folder.configuration, derivation: nil)
        #expect(calm.problems.lines == [])
        let known = await troubles(node).count

        try await mishap.make(stage)
        let lasting = try await watch(stage, node, mishap) { $0.cells == row.watched }
        #expect(lasting.cells == row.watched, "\(lasting)")
        let answer = try await node.license(1)
        #expect(answer.status == mishap.license, "\(answer.text)")
        // Whoever only tries half of the work finds that all is well again.
        for _ in 0..<2 { #expect(try await watch(stage, node, mishap) { _ in true }.cells == row.watched) }
        let check = try await ServerCheck(stage.folder.configuration, derivation: nil)
        let told =
            check.problems.problems.map { "`\($0.place)`: \($0.reason)" }
            + check.notices.filter { !calm.notices.contains($0) }.map { "a notice, \($0)" }
        #expect(row.agrees(check: told), "\(told)")
        let lines = await troubles(node).dropFirst(known)
        let log = lines.filter { line in !mishap.passing.contains { line.contains($0) } }
        // An outage that began with a passing error has no log entry after that error.
        let isOtherwiseLogged = log.isEmpty && row.isLogged && !lines.isEmpty
        #expect(row.agrees(log: log) || isOtherwiseLogged, "\(lines.joined(separator: "\n"))")
        #expect(!log.contains { $0.contains(" again.") }, "It came and went: \(log.joined(separator: "\n"))")
        let readiness = try await node.operators("readyz?verbose")
        #expect(row.agrees(readiness: readiness), "\(readiness.text)")
        try await mishap.proof(stage, node)

        try await mishap.undo(stage)
        let over = try await watch(stage, node, mishap) { $0 == .well }
        #expect(over == .well, "\(over)")
        #expect(try await node.license(1).status == 200)
        #expect(try await ServerCheck(stage.folder.configuration, derivation: nil).problems.lines == [])
        let outages = log.count { $0.contains(#""event":"outage""#) }
        let ends = await node.lines(#""event":"outage""#, #""level":"info""#).count
        #expect(ends >= outages, "The log does not say that it is over.")
        await node.stop(within: .zero)
    }

    /// The log's lines about engines, and about rows that the record lost.
    private static func troubles(_ node: TestServer) async -> [String] {
        await node.lines(#""event":""#).filter { line in
            ["outage", "record"].contains { line.contains("\"event\":\"\($0)\"") }
        }
    }

    /// Works and looks, as viewers and the clock do, until everything is reported as expected.
    private static func watch(
        _ stage: CheckStage, _ node: TestServer, _ mishap: Mishap, until isRight: (Watched) -> Bool
    ) async throws -> Watched {
        var said = Watched()
        for _ in 1...looks {
            _ = try await node.license(1)
            // As for a viewer whose account this node does not know.
            _ = try? await node.server.shared.accounts.account("anna", of: "demo")
            await node.server.shared.look(atLeastEvery: .zero)
            try await mishap.work(stage, node)
            said = try await Watched(node)
            if isRight(said) { break }
        }
        return said
    }

    @Test func `the page lists exactly these mishaps`() throws {
        let rows = try MishapPage.rows
        let mishaps = Mishap.all + Mishap.others
        #expect(Set(rows.keys) == Set(mishaps.map { $0.testDescription }))
        #expect(mishaps.count == rows.count)
    }
}
