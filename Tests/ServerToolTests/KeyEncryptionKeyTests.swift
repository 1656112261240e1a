import Foundation
import LatchkeyFairPlay
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// A new key encryption key on two servers over one database: known, then in force, then wrapped again, then alone.
@Suite(.timeLimit(.minutes(5))) struct KeyEncryptionKeyTests {
    /// The keys in a node's configuration, in the order of the steps.
    private enum Step: Int, CaseIterable {
        case old, known, inForce, new

        var members: [String: JSONValue?] {
            let (old, new): (JSONValue, JSONValue) = (
                ["id": "demo", "file": "kek.hex"], ["id": "second", "file": "kek-2.hex"]
            )
            return switch self {
            case .old: [:]
            case .known: ["nextKeyEncryptionKey": new]
            case .inForce: ["keyEncryptionKey": new, "formerKeyEncryptionKey": old]
            case .new: ["keyEncryptionKey": new]
            }
        }
    }

    /// Two servers, each with its own file, over one database.
    private final class Pair {
        let folder: ServerFolder
        private let text: String
        private var servers: [LicenseServer?] = [nil, nil]

        init() async throws {
            folder = try ServerFolder()
            try await folder.makeTenants()
            try folder.write(secret: Secret.random(32).revealed.hexString, to: "kek-2.hex")
            text = try folder.text()
            for node in 0...1 {
                try write(.old, node)
                try await start(node)
            }
        }

        func file(_ node: Int) -> String { folder.file("node-\(node).json").path }

        func write(_ step: Step, _ node: Int) throws {
            try folder.write(text, to: "node-\(node).json")
            if !step.members.isEmpty { try folder.edit(step.members, in: "node-\(node).json") }
        }

        func start(_ node: Int) async throws {
            servers[node] = try await LicenseServer(ConfigurationFile(file(node)), lines: LineWriter { _ in })
        }

        /// Ends a server as a crash does, as far as one in this process can, and starts it with its file as it is now.
        func restart(_ node: Int) async throws {
            await servers[node]?.stop(within: .zero)
            try await start(node)
        }

        /// Makes a server read its file, which has to leave the store as it is; then each starts again.
        func step(_ step: Step, _ node: Int) async throws {
            let before = try await wrappers()
            try write(step, node)
            let check = await ToolRun("run", "--check", "--config", file(node))
            #expect(check.status == .yes, "\(check.error)")
            try await servers[node]?.reload()
            #expect(try await wrappers() == before, "\(step) on node \(node) wrapped keys.")
            for node in 0...1 { try await restart(node) }
            #expect(try await wrappers() == before, "A start wrapped keys.")
        }

        func wrappers() async throws -> Set<String> {
            Set(try await servers[0]?.shared.engines.keys.dataKeys().map(\.wrapper) ?? [])
        }

        func events() async throws -> [String] {
            try await servers[0]?.shared.engines.audit.entries(from: 1, limit: 1_000).compactMap {
                let event = JSONValue(Data($0.text.utf8))
                return event?["action"]?.text == "keysRewrapped" ? event?["details"]?["wrapper"]?.text : nil
            } ?? []
        }

        func stop() async { for server in servers { await server?.stop(within: .zero) } }
    }

    @Test func `a key is rolled out and back step by step, and only the verb wraps`() async throws {
        let pair = try await Pair()
        // Known on both, and back again on one.
        try await pair.step(.known, 0)
        try await pair.step(.old, 0)
        try await pair.step(.known, 0)
        try await pair.step(.known, 1)
        // In force on one, and back; then on both.
        try await pair.step(.inForce, 1)
        try await pair.step(.known, 1)
        try await pair.step(.inForce, 1)
        try await pair.step(.inForce, 0)
        #expect(try await pair.wrappers() == ["demo"])
        let rewrap = await ToolRun("keys", "rewrap", "--config", pair.file(0))
        #expect(rewrap.status == .yes, "\(rewrap.error)")
        #expect(rewrap.output == "1 data key rewrapped; all are wrapped with “second”.\n")
        #expect(try await pair.wrappers() == ["second"])
        #expect(try await pair.events() == ["second"])
        // Still a way back, and forth again.
        try await pair.step(.known, 1)
        try await pair.step(.known, 0)
        try await pair.step(.inForce, 0)
        try await pair.step(.inForce, 1)
        try await pair.step(.new, 1)
        try await pair.step(.new, 0)
    }

    @Test func `keys sharing a name are refused, and so is a next key without a current one`() async throws {
        let pair = try await Pair()
        try pair.write(.known, 0)
        try pair.folder.edit(["nextKeyEncryptionKey.id": "demo"], in: "node-0.json")
        let same = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(same.status == .no)
        #expect(
            same.error.contains("nextKeyEncryptionKey: Another key encryption key is also named “demo”"),
            "\(same.error)"
        )
        try pair.write(.known, 0)
        try pair.folder.edit(["keyEncryptionKey": nil], in: "node-0.json")
        let none = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(none.error.contains("nextKeyEncryptionKey: There is no keyEncryptionKey."), "\(none.error)")
    }

    @Test func `the check rejects a truncated key`() async throws {
        let pair = try await Pair()
        try pair.folder.write(String(pair.folder.text("kek.hex").prefix(32)), to: "kek.hex")
        let check = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(check.status == .no)
        #expect(check.error.contains("kek.hex is 32 characters of text"), "\(check.error)")
    }
}
