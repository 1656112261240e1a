import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

/// Servers that keep a record, and their answers about it.
@Suite(.timeLimit(.minutes(5))) struct RecordedServerTests {
    /// Runs a node with its own folder, ships its rows, and stops it.
    private static func node(
        _ root: TemporaryFolder, spool: String = "spool", to destination: String, accounts: JSONValue? = nil,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let folder = try ServerFolder(
            ["record.folder": .text(spool), "record.destination": .text(destination)], in: root)
        if let accounts { try folder.edit(["record.accounts": accounts]) }
        chmod(folder.configuration, 0o600)
        let test = try await TestServer(folder)
        try await body(test)
        await test.server.shared.record?.close(within: .seconds(120))
        await test.stop(within: .seconds(60))
    }

    /// Licenses and a refusal before a policy was evaluated.
    private static func watch(_ test: TestServer) async throws {
        try await test.importKeys([1])
        for number in 1...4 {
            _ = try await test.license(1, token: try test.token("ann"), requestID: "request-\(number)")
        }
        _ = try await test.license(1, token: "nonsense", requestID: "request-5")
    }

    @Test func `explain works after a restart and on other nodes`() async throws {
        let (folder, other, record) = (
            try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder()
        )
        let destination = "files:\(record.path("record"))"
        try await Self.node(folder, to: destination) { test in
            try await Self.watch(test)
            #expect(try await test.admin("requests/request-4").json["source"]?.text == "decisions")
            #expect(try await test.admin("requests/request-5").json["source"]?.text == "refusals")
        }
        for (name, folder) in [("the same", folder), ("another", other)] {
            // A separate spool, so that everything it knows comes from the record.
            try await Self.node(folder, spool: "spool-2", to: destination) { test in
                let decided = try await test.admin("requests/request-4")
                #expect(decided.json["source"]?.text == "record", "\(name): \(decided.text)")
                #expect(decided.json["record"]?["decision"]?["refusal"]?["code"]?.text == "sessionLimit")
                let early = try await test.admin("requests/request-5")
                #expect(early.list("rows").first?["code"]?.text == "tokenForm", "\(name): \(early.text)")
                let license = try await test.admin("requests/request-1")
                #expect(
                    license.list("rows").first?["event"]?.text == "license" && license.json["record"] == nil)
                let unknown = try await test.admin("requests/request-9")
                #expect(
                    unknown.json["reason"]?.text?.contains("not in the record, which goes back to") == true)
                let report = try await test.admin("tenants/demo/report?last=1h&by=content")
                #expect(report.json["total"]?["licenses"]?.number == 3, "\(report.text)")
                #expect(report.json["total"]?["refusals"]?.number == 2)
            }
        }
    }

    @Test
    func
        `an account is found by its name where the record has pseudonyms, and its name is in no answer`()
        async throws
    {
        let folder = try TemporaryFolder()
        let destination = "files:\(folder.path("record"))"
        try await Self.node(folder, to: destination, accounts: "pseudonyms") { test in try await Self.watch(test) }
        try await Self.node(folder, spool: "spool-2", to: destination, accounts: "pseudonyms") { test in
            let history = try await test.admin("tenants/demo/history?account=ann&last=1h")
            #expect(history.list("rows").count == 4, "\(history.text)")
            let recorded = try #require(history.json["recorded"]?.text)
            #expect(recorded.wholeMatch(of: /[0-9a-f]{32}/) != nil && !history.text.contains("ann\""))
            let same = try await test.admin("tenants/demo/history?recorded=\(recorded)&last=1h")
            #expect(same.list("rows") == history.list("rows"))
            let report = try await test.admin("tenants/demo/report?account=ann&last=1h&by=account")
            #expect(report.texts("groups", "group") == [recorded])
            #expect(
                try await test.admin("tenants/demo/history?account=anna&last=1h").list("rows").isEmpty)
        }
    }

    /// An account of thousands of characters, which PostgreSQL does not make short.
    private static var longAccount: String {
        var generator = SystemRandomNumberGenerator()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<3_500).compactMap { _ in letters.randomElement(using: &generator) })
    }

    @Test(.enabled(if: PostgreSQLProcess.programs != nil))
    func `the history of an account with a very long name is found, with its neighbors' rows`() async throws {
        let database = try await PostgreSQLProcess.shared.value
        let address = database.address(of: try await database.database()).revealedText
        let (folder, account) = (try TemporaryFolder(), Self.longAccount)
        try await Stores.migrate(StoreAddress(address))
        try await Self.node(folder, to: address) { test in
            try await Self.watch(test)
            let license = try await test.license(1, token: try test.token(account), requestID: "request-6")
            #expect(license.status == 200)
            _ = try await test.license(1, token: try test.token("bob"), requestID: "request-7")
            while try await test.admin("tenants/demo/report?last=1h").json["total"]?["licenses"]?.number != 5 {
                await Task.yield()
            }
            let history = try await test.admin("tenants/demo/history?account=\(account)&last=1h")
            #expect(history.texts("rows", "requestId") == ["request-6"], "\(history.text)")
            // As operators see it among the accounts, too.
            let shown = try #require(history.json["recorded"]?.text)
            #expect(shown == account.storedAccount && shown.utf8.count == 64)
            let same = try await test.admin("tenants/demo/history?account=\(shown)&last=1h")
            #expect(same.list("rows") == history.list("rows"))
            let report = try await test.admin("tenants/demo/report?account=\(account)&last=1h&by=account")
            #expect(report.texts("groups", "group") == [shown])
        }
    }

    @Test(.enabled(if: PostgreSQLProcess.programs != nil), arguments: [true, false])
    func `a database that hangs or is gone blocks no license, and its figures return with it`(
        _ hangs: Bool
    ) async throws {
        let database = try await PostgreSQLProcess()
        let address = database.address(of: try await database.database()).revealedText
        let folder = try TemporaryFolder()
        try await Stores.migrate(StoreAddress(address))
        try await Self.node(folder, to: address) { test in
            try await Self.watch(test)
            let question = "tenants/demo/report?last=1h"
            while try await test.admin(question).json["total"]?["licenses"]?.number != 3 {
                await Task.yield()
            }
            if hangs { try database.hang(true) } else { try await database.stop() }
            let away = try await test.admin(question)
            #expect(away.status == 503 && away.json["code"]?.text == "recordAway", "\(away.text)")
            let license = try await test.license(1, token: try test.token("bob"), requestID: "request-6")
            #expect(license.status == 200)
            if hangs { try database.hang(false) } else { try await database.start() }
            while try await test.admin(question).json["total"]?["licenses"]?.number != 4 {
                await Task.yield()
            }
        }
    }
}
