import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTerminal
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

/// A new key encryption key on two servers over one database: known, then in force, then wrapped again, then alone.
@Suite(.timeLimit(.minutes(5))) struct KeyEncryptionKeyTests {
    /// What a node's configuration has, in the order of the steps.
    private enum Step: Int, CaseIterable {
        case old, known, inForce, new

        var members: String {
            let (old, new) = (#"{"id": "demo", "file": "kek.hex"}"#, #"{"id": "second", "file": "kek-2.hex"}"#)
            return switch self {
            case .old: #""keyEncryptionKey": \#(old)"#
            case .known: #""keyEncryptionKey": \#(old), "nextKeyEncryptionKey": \#(new)"#
            case .inForce: #""keyEncryptionKey": \#(new), "formerKeyEncryptionKey": \#(old)"#
            case .new: #""keyEncryptionKey": \#(new)"#
            }
        }
    }

    /// Two servers, each with a file of its own, over one database.
    private final class Pair {
        let root: TemporaryFolder
        let folder: DemoFolder
        private let text: String
        private var servers: [LicenseServer?] = [nil, nil]

        init() async throws {
            root = try TemporaryFolder()
            folder = try DemoFolder.patient(in: root)
            try await folder.makeTenants()
            try PrivateFile.write(
                Secret(Secret.random(32).revealed.hexString), to: folder.url.appending(path: "kek-2.hex"))
            text = try String(contentsOfFile: folder.configuration, encoding: .utf8)
            for node in 0...1 {
                try write(.old, node)
                try await start(node)
            }
        }

        func file(_ node: Int) -> String { folder.url.appending(path: "node-\(node).json").path }

        func write(_ step: Step, _ node: Int) throws {
            let changed = text.replacing(Step.old.members, with: step.members)
            try Data(changed.utf8).write(to: URL(filePath: file(node)))
        }

        func start(_ node: Int) async throws {
            servers[node] = try await LicenseServer(ConfigurationFile(file(node)), lines: LineWriter { _ in })
        }

        /// Ends a server as a crash does, as far as one in this process can, and starts it with its file as it is now.
        func restart(_ node: Int) async throws {
            await servers[node]?.stop(within: .zero)
            try await start(node)
        }

        /// Has a server read its file, which has to leave the store as it is; then each starts again.
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

    @Test func `a key is rolled out step by step and back, and only the verb wraps`() async throws {
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
        #expect(rewrap.output == "1 data key wrapped again; all are wrapped by “second”.\n")
        #expect(try await pair.wrappers() == ["second"])
        #expect(try await pair.events() == ["second"])
        // Still a way back, and forth again.
        try await pair.step(.known, 1)
        try await pair.step(.known, 0)
        try await pair.step(.inForce, 0)
        try await pair.step(.inForce, 1)
        try await pair.step(.new, 1)
        try await pair.step(.new, 0)
        await pair.stop()
    }

    @Test func `two keys of one name are refused, and so is a next one without one in force`() async throws {
        let pair = try await Pair()
        try pair.write(.known, 0)
        try ServerStage.edit(pair.file(0)) { $0 = $0.replacing(#""id": "second""#, with: #""id": "demo""#) }
        let same = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(same.status == .no)
        #expect(
            same.error.contains("nextKeyEncryptionKey: Another key encryption key has the name “demo”"), "\(same.error)"
        )
        try pair.write(.known, 0)
        try ServerStage.edit(pair.file(0)) {
            $0 = $0.replacing(#""keyEncryptionKey": {"id": "demo", "file": "kek.hex"}, "#, with: "")
        }
        let none = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(none.error.contains("nextKeyEncryptionKey: There is no keyEncryptionKey beside it."), "\(none.error)")
        await pair.stop()
    }

    @Test func `a key that was cut is refused by the check`() async throws {
        let pair = try await Pair()
        let kek = pair.folder.url.appending(path: "kek.hex")
        let text = try String(contentsOf: kek, encoding: .utf8)
        try Data(text.prefix(32).utf8).write(to: kek)
        let check = await ToolRun("run", "--check", "--config", pair.file(0))
        #expect(check.status == .no)
        #expect(check.error.contains("kek.hex is 32 characters of text"), "\(check.error)")
        await pair.stop()
    }
}
