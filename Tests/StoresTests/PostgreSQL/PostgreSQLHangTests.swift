import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyStores
@testable import StoreProcesses

/// A database that hangs, and one that is killed: the node's reaction.
@Suite(.timeLimit(.minutes(3)), .serialized, .enabled(if: PostgreSQLProcess.programs != nil))
struct PostgreSQLHangTests {
    /// A node with two imported keys, of which it has licensed one.
    private struct Node {
        let database: PostgreSQLProcess
        let store: PostgreSQLStore
        let guarded: GuardedKeyStore
        let vault: TenantVault
        let key: ContentKey

        init() async throws {
            // A separate one, because others must not hang with it.
            database = try await PostgreSQLProcess()
            let address = database.address(of: try await database.database())
            var settings = PostgreSQLStore.Settings()
            // A busy machine answers within these.
            settings.readLimit = .seconds(5)
            settings.openLimit = .seconds(60)
            settings.keyLimit = .seconds(5)
            store = try await PostgreSQLStore.open(address, settings, migrates: true)
            let store = store
            guarded = GuardedKeyStore(
                store, health: EngineHealth("keyStore"),
                question: { operation throws(StoreError) in try await store.probe(.keyStore, operation) })
            let wrapper = try KeyEncryptionKey(id: "k", key: Secret([UInt8](repeating: 7, count: 32)))
            let secrets = try await TenantSecrets.create("acme", in: guarded, with: KeyEncryptionKeys(wrapper))
            vault = TenantVault(secrets, store: guarded)
            key = try #require(
                ContentKey(key: Secret([UInt8](repeating: 1, count: 16)), iv: Secret([UInt8](repeating: 2, count: 16))))
            let content = try #require(ContentName("film"))
            let demands = try [1, 2].map { KeyDemand(KeyAddress(content: content, kid: try Self.kid($0))) }
            let key = key
            #expect(try await vault.add(demands.map { ($0, key) }).isEmpty)
            _ = try await vault.key(Self.kid(1))
        }

        static func kid(_ number: UInt8) throws -> KeyID {
            try #require(KeyID(bytes: [UInt8](repeating: number, count: 16)))
        }
    }

    @Test(arguments: [true, false])
    func `known keys are licensed as before, unknown ones soon fail, and then all recovers`(
        _ hangs: Bool
    ) async throws {
        let node = try await Node()
        if hangs { try node.database.hang(true) } else { try await node.database.stop() }
        // The call that notices waits for the limit of a read; later callers do not wait.
        await #expect(throws: VaultError.self) { try await node.vault.key(Node.kid(2)) }
        #expect(node.guarded.isAway)
        for _ in 0..<1_000 { #expect(try await node.vault.key(Node.kid(1)).content == node.key) }
        await #expect(throws: VaultError.self) { try await node.vault.refresh() }
        await node.guarded.probe()
        #expect(node.guarded.isAway)
        #expect(try await node.vault.key(Node.kid(1)).facts.origin == .stale)

        if hangs { try node.database.hang(false) } else { try await node.database.start() }
        while node.guarded.isAway { await node.guarded.probe() }
        try await node.vault.refresh()
        // A lost connection may fail once more; the next one is new.
        while (try? await node.vault.key(Node.kid(2)).content) != node.key { await node.guarded.probe() }
        #expect(try await node.vault.key(Node.kid(1)).facts.origin == .memory)
        node.store.close()
    }

    /// As after a failover for a primary whose disk hangs: its connections stay, and nothing ends them.
    @Test
    func `a database that hangs is replaced by the address's other host, for commits and listeners too`()
        async throws
    {
        let (first, second) = (try await PostgreSQLProcess(), try await PostgreSQLProcess())
        let name = try await first.database()
        #expect(try await second.database() == name)
        var settings = PostgreSQLStore.Settings()
        settings.openLimit = .seconds(60)
        try await PostgreSQLStore.open(second.address(of: name), settings, migrates: true).close()
        let both = first.address(of: name).revealedText + ",\(second.folder)&connect_timeout=5"
        let store = try await PostgreSQLStore.open(Secret(both), settings, migrates: true)
        var changes = try store.changes().makeAsyncIterator()
        #expect(await changes.next() == .everything)
        while (try? await store.probe(.keyStore, .write)) == nil {}

        try first.hang(true)
        for work in [EngineOperation.write, .listen] { while (try? await store.probe(.keyStore, work)) == nil {} }
        #expect(await changes.next() == .everything)
        try await second.query("NOTIFY latchkey_keys, 'acme:'", in: name)
        #expect(await changes.next() == .tenant("acme"))
        try first.hang(false)
        store.close()
    }
}
