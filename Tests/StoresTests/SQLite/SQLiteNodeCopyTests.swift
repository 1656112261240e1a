import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores

/// A node's own copy of the store of keys, as a file.
@Suite(.timeLimit(.minutes(1))) struct SQLiteNodeCopyTests {
    private let folder: TemporaryFolder
    private let time = ManualTimekeeper()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("copy.db") }

    private func copy(_ change: (inout SQLiteNodeCopy.Limits) -> Void = { _ in }) throws -> SQLiteNodeCopy {
        var limits = SQLiteNodeCopy.Limits()
        change(&limits)
        return try SQLiteNodeCopy(path: path, limits: limits, timekeeper: time)
    }

    /// A vault over a store in memory, which a copy follows.
    private func vault(_ store: MemorySealedKeyStore, _ copy: SQLiteNodeCopy) async throws -> TenantVault {
        let guarded = GuardedKeyStore(store, health: EngineHealth("keyStore"), copy: copy)
        let wrapper = try KeyEncryptionKey(id: "k", key: Secret([UInt8](repeating: 7, count: 32)))
        let secrets = try await TenantSecrets.create("acme", in: guarded, with: KeyEncryptionKeys(wrapper))
        return TenantVault(secrets, store: guarded)
    }

    private static func kid(_ number: UInt8) throws -> KeyID {
        try #require(KeyID(bytes: [UInt8](repeating: number, count: 16)))
    }

    private static let key = ContentKey(
        key: Secret([UInt8](repeating: 0xa5, count: 16)), iv: Secret([UInt8](repeating: 0xb6, count: 16)))

    private func importKeys(_ numbers: ClosedRange<UInt8>, into vault: TenantVault) async throws {
        let key = try #require(Self.key)
        let content = try #require(ContentName("film"))
        let keys = try numbers.map { (KeyDemand(KeyAddress(content: content, kid: try Self.kid($0))), key) }
        #expect(try await vault.add(keys, policies: ["uhd"]).isEmpty)
    }

    @Test func `a store's answer is read back after a restart, and a change replaces it`() async throws {
        let store = MemorySealedKeyStore()
        let first = try copy()
        let vault = try await vault(store, first)
        try await importKeys(1...3, into: vault)
        // A write behind the others: once it is done, the earlier ones are, too.
        try await first.add(PendingChange(.audit(text: "x")))
        try await vault.setDisabled(true, Self.kid(2))
        _ = try? await vault.key(Self.kid(2))
        let block = Block(Block.Subject(.account, "ann", of: "acme"), reason: "stolen", by: "ops", since: Date())
        first.keep([block, Block(Block.Subject(.device, "tv", of: "acme"), reason: "", by: "ops", since: Date())])
        first.keep([block])
        try await first.add(PendingChange(.audit(text: "y")))
        first.close()

        let second = try copy()
        let rows = try await second.rows([Self.kid(1), Self.kid(2), Self.kid(9)], of: "acme")
        #expect(
            try rows == (await store.rows([Self.kid(1), Self.kid(2)], of: "acme")).sorted { "\($0.kid)" < "\($1.kid)" })
        #expect(rows.map(\.isDisabled) == [false, true])
        #expect(try await second.blocks() == [block])
        #expect(try await second.dataKeys() == (await store.dataKeys()))
        #expect(try await second.seeds(of: "acme") == (await store.seeds(of: "acme")))
        #expect(try await second.rows([Self.kid(1)], of: "other").isEmpty)
        #expect(try await second.kids(of: "acme", after: Self.kid(1), limit: 10).count == 2)
        let figures = try await second.figures()
        #expect(figures.rows == 3)
        #expect(figures.bytes > 0)
        #expect(figures.kept != nil)
        second.forget([try Self.kid(1)], of: "acme")
        try await second.add(PendingChange(.audit(text: "z")))
        #expect(try await second.rows([Self.kid(1)], of: "acme").isEmpty)
        #expect(try await second.changes().count == 3)
        second.close()
    }

    @Test func `only its owner can read the file, and no key is plaintext`() async throws {
        let file = try copy()
        let vault = try await vault(MemorySealedKeyStore(), file)
        try await importKeys(1...1, into: vault)
        try await file.add(PendingChange(.audit(text: "x")))
        for name in ["copy.db", "copy.db-wal"] {
            let bytes = try Data(contentsOf: URL(filePath: folder.path(name)))
            #expect(bytes.range(of: Data([UInt8](repeating: 0xa5, count: 8))) == nil)
            #expect(bytes.range(of: Data([UInt8](repeating: 0xb6, count: 8))) == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        file.close()
    }

    @Test func `beyond the limit the least recently requested keys are dropped`() async throws {
        let file = try copy { $0.rows = 100 }
        let vault = try await vault(MemorySealedKeyStore(), file)
        for start in stride(from: UInt8(1), through: 200, by: 10) {
            try await importKeys(start...start + 9, into: vault)
            time.advance(by: .seconds(90_000))
            _ = try await (vault.store as? GuardedKeyStore)?.rows([Self.kid(1)], of: "acme")
        }
        try await file.add(PendingChange(.audit(text: "x")))
        #expect(try await file.figures().rows <= 100)
        #expect(try await file.rows([Self.kid(1), Self.kid(200)], of: "acme").count == 2)
        #expect(try await file.rows([Self.kid(2)], of: "acme").isEmpty)
        file.close()
    }

    @Test func `a copy on a full disk says so until it can store again`() async throws {
        let (store, file) = (MemorySealedKeyStore(), try copy())
        let vault = try await vault(store, file)
        try await importKeys(1...200, into: vault)
        let rows = try await store.rows((1...200).map(Self.kid), of: "acme")
        func pages(_ most: Int) async throws {
            try await file.writer.write(.full) { connection throws(StoreError) in
                _ = try connection.number("PRAGMA max_page_count = \(most)")
            }
        }
        #expect(file.failure == nil)
        try await pages(1)
        for row in rows {
            var row = row
            row.policies = [String(repeating: "p", count: 4_000)]
            file.keep([row])
        }
        // A write behind the others, which fails as they do.
        try? await file.add(PendingChange(.audit(text: "x")))
        #expect(file.failure?.kind == .full)
        file.forget([try Self.kid(1)], of: "acme")
        try await pages(1_000_000)
        #expect(file.failure?.kind == .full)
        file.keep(try await store.dataKeys())
        try await file.add(PendingChange(.audit(text: "y")))
        #expect(file.failure == nil)
        // Unchanged data keys are written again after a failure: the end of a failure needs a write.
        try await file.writer.write(.full) { connection throws(StoreError) in
            try connection.execute("PRAGMA query_only = 1")
        }
        file.keep(rows)
        file.forget([try Self.kid(2)], of: "acme")
        file.keep(try await store.dataKeys())
        try? await file.add(PendingChange(.audit(text: "z")))
        #expect(file.failure != nil)
        file.close()
    }

    @Test func `changes are accepted up to a limit and removed one by one`() async throws {
        let file = try copy { $0.changes = 2 }
        let changes = ["a", "b"].map { PendingChange(.audit(text: $0)) }
        for change in changes { try await file.add(change) }
        let error = await #expect(throws: StoreError.self) { try await file.add(PendingChange(.audit(text: "c"))) }
        #expect(error?.kind == .full)
        #expect(try await file.changes() == changes)
        try await file.remove(changes[0])
        #expect(try await file.changes() == [changes[1]])
        file.close()
    }

    @Test
    func `the newest audit entry and disabled keys survive a restart, even in an older file`()
        async throws
    {
        let anchors = ["3", "5", "4"].compactMap { AuditAnchor("\($0):\(String(repeating: "ab", count: 32))") }
        try SQLiteFile.prepare(path, for: .serving)
        let connection = try SQLiteConnection(path: path, busy: .zero)
        try SQLiteSchema.copy.migrate(connection)
        connection.close()
        var kept = try Stores.checkCopy(at: path)
        #expect(kept.seen == nil && kept.marks.isEmpty)
        let first = try copy()
        #expect(try await first.seen() == nil)
        for anchor in anchors { first.keep(anchor) }
        let mark = StoreMark(name: "ab12", version: .max)
        first.keep(StoreMark(name: "ab12", version: 1), of: "sessions")
        first.keep(mark, of: "sessions")
        let vault = try await vault(MemorySealedKeyStore(), first)
        try await importKeys(1...3, into: vault)
        try await vault.setDisabled(true, Self.kid(2))
        await first.closed()

        kept = try Stores.checkCopy(at: path)
        #expect(kept.seen == anchors[1] && kept.marks == ["sessions": mark])
        let second = try copy()
        #expect(try await second.seen() == anchors[1])
        #expect(try await second.mark(of: "sessions") == mark)
        #expect(try await second.takedowns() == [HeldKey("acme", Self.kid(2))])
        try await second.forgetSeen()
        second.keep(anchors[0])
        await second.closed()
        kept = try Stores.checkCopy(at: path)
        #expect(kept.seen == anchors[0] && kept.marks.isEmpty)
    }

    @Test func `stores and copies reject each other's files`() async throws {
        try SQLiteStore(path: path).close()
        #expect(throws: StoreError.self) { try copy() }
        let other = folder.path("other.db")
        try SQLiteNodeCopy(path: other).close()
        #expect(throws: StoreError.self) { try SQLiteStore(path: other) }
    }
}
