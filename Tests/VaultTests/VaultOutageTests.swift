import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Licenses while the store of keys is unavailable: never a key that was not stored, and no fewer than before.
@Suite(.timeLimit(.minutes(1))) struct VaultOutageTests {
    /// Half a minute each: ten minutes.
    private static let ticks = 20

    private static let foreign = ContentKey(
        key: Secret([UInt8](repeating: 5, count: 16)), iv: Secret([UInt8](repeating: 6, count: 16)))

    /// A tenant with a derived, an imported, a rotated and a disabled key, all of which a node has licensed.
    private static func known(_ stage: VaultStage, copy: MemoryNodeCopy? = nil) async throws -> (
        TenantVault, [KeyID: ContentKey]
    ) {
        let vault = try await stage.vault(copy: copy)
        var keys: [KeyID: ContentKey] = [:]
        keys[.numbered(1)] = try await stage.key(stage.demand(1), of: vault)
        keys[.numbered(3)] = try await stage.key(stage.demand(3, periods: [7]), of: vault)
        let imported = try #require(foreign)
        #expect(try await vault.add([(try stage.demand(2), imported)], policies: ["uhd"]).isEmpty)
        keys[.numbered(2)] = imported
        _ = try await stage.key(stage.demand(4), of: vault)
        try await vault.setDisabled(true, .numbered(4))
        for kid in keys.keys { _ = try await vault.key(kid) }
        return (vault, keys)
    }

    @Test(arguments: TenantVault.Origin.allCases)
    func `for ten minutes without the store every known key is licensed as before, and no other`(
        _ origin: TenantVault.Origin
    ) async throws {
        let stage = try VaultStage(origin: origin)
        let (vault, keys) = try await Self.known(stage)
        stage.store.setDown(true)
        let movie = ContentName("movie")
        for _ in 0..<Self.ticks {
            try await stage.tick(vault)
            for (kid, key) in keys {
                let found = try await vault.key(kid, content: movie)
                #expect(found.content == key)
                #expect(found.facts.origin == .stale)
            }
            #expect(try await vault.key(.numbered(2)).facts.policies == ["uhd"])
            await #expect(throws: VaultError.disabled(.numbered(4))) {
                try await vault.key(.numbered(4), content: movie)
            }
            let error = await #expect(throws: VaultError.self) { try await vault.key(.numbered(9), content: movie) }
            #expect(error?.code == "storeUnavailable")
        }
        stage.store.setDown(false)
        try await stage.tick(vault)
        for (kid, key) in keys {
            let found = try await vault.key(kid)
            #expect(found.content == key)
            #expect(found.facts.origin == .memory)
        }
        await #expect(throws: VaultError.unknown(.numbered(9))) { try await vault.key(.numbered(9), content: movie) }
    }

    @Test func `while the store is down only the probe calls it`() async throws {
        let stage = try VaultStage()
        let (vault, _) = try await Self.known(stage)
        stage.store.setDown(true)
        _ = try? await vault.key(.numbered(9))
        let reads = stage.store.count("rows")
        for _ in 0..<10 {
            try await stage.tick(vault)
            _ = try? await vault.key(.numbered(9))
            _ = try await vault.key(.numbered(1))
        }
        #expect(stage.store.count("rows") == reads)
    }

    @Test func `a known key waits for nothing while the store hangs`() async throws {
        let stage = try VaultStage()
        let (vault, keys) = try await Self.known(stage)
        let gate = Promise<Void, any Error>()
        stage.store.gate.withLock { $0 = gate }
        let reads = stage.store.count("rows")
        let refresh = Task { try await vault.refresh() }
        while stage.store.count("rows") == reads { await Task.yield() }
        for (kid, key) in keys { #expect(try await vault.key(kid).content == key) }
        gate.resolve(.success(()))
        try await refresh.value
    }

    @Test func `a refresh finds changed and deleted keys, and loses nothing if it fails halfway`()
        async throws
    {
        let stage = try VaultStage()
        let (vault, _) = try await Self.known(stage)
        _ = try await stage.store.inner.setDisabled(true, .numbered(1), of: "acme")
        #expect(try await !vault.key(.numbered(1)).isDisabled)
        try await vault.refresh()
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
        stage.store.setDown(true)
        await #expect(throws: VaultError.self) { try await vault.refresh() }
        _ = try await vault.key(.numbered(2))
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
    }

    @Test func `a changed key is read again before its next license, and the old one counts if that fails`()
        async throws
    {
        let stage = try VaultStage()
        let (vault, keys) = try await Self.known(stage)
        stage.store.setDown(true)
        vault.noteChange(of: .numbered(1))
        #expect(try await vault.key(.numbered(1)).content == keys[.numbered(1)])
        stage.store.setDown(false)
        _ = try await stage.store.inner.setDisabled(true, .numbered(1), of: "acme")
        try await stage.tick(vault)
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
    }

    @Test func `a reload of the configuration during an outage loses no key`() async throws {
        let stage = try VaultStage()
        let copy = MemoryNodeCopy()
        let (vault, keys) = try await Self.known(stage, copy: copy)
        stage.store.setDown(true)
        try await stage.tick(vault)
        let next = TenantVault(vault.secrets, store: vault.store, settings: stage.settings, timekeeper: stage.time)
        next.takeOver(vault)
        for (kid, key) in keys { #expect(try await next.key(kid).content == key) }
        await #expect(throws: VaultError.disabled(.numbered(4))) { try await next.key(.numbered(4)) }
    }
}

/// Keys that no packager asked for.
@Suite(.timeLimit(.minutes(1))) struct UnlistedKeyTests {
    private static let movie = ContentName("movie")

    @Test func `a key without a row is unknown, for any content`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        await #expect(throws: VaultError.unknown(.numbered(1))) {
            try await vault.key(.numbered(1), content: Self.movie)
        }
    }

    @Test func `if the settings derive it, it is the packager's key, marked as having no row`() async throws {
        let stage = try VaultStage(unlisted: .derive)
        let node = try await stage.vault()
        let unlisted = try await node.key(.numbered(1), content: Self.movie)
        #expect(unlisted.facts.origin == .unlisted)
        #expect(unlisted.facts.content == "movie")
        let wrong = try await node.key(.numbered(1), content: ContentName("another"))
        #expect(wrong.content.key != unlisted.content.key)
        #expect(try await stage.key(stage.demand(1), of: stage.vault()) == unlisted.content)
        await #expect(throws: VaultError.unknown(.numbered(2))) { try await node.key(.numbered(2)) }
    }

    @Test func `without the store it is derived again only if the store once reported no row`()
        async throws
    {
        let stage = try VaultStage(unlisted: .derive)
        let vault = try await stage.vault()
        let key = try await vault.key(.numbered(1), content: Self.movie)
        stage.store.setDown(true)
        for _ in 0..<20 {
            try await stage.tick(vault)
            #expect(try await vault.key(.numbered(1), content: Self.movie).content == key.content)
            let error = await #expect(throws: VaultError.self) {
                try await vault.key(.numbered(2), content: Self.movie)
            }
            #expect(error?.code == "storeUnavailable")
        }
    }

    @Test func `a row that comes later is found without a caller's wait`() async throws {
        let stage = try VaultStage(unlisted: .derive)
        let vault = try await stage.vault()
        let derived = try await vault.key(.numbered(1), content: Self.movie)
        let foreign = try #require(
            ContentKey(key: Secret([UInt8](repeating: 5, count: 16)), iv: Secret([UInt8](repeating: 6, count: 16))))
        #expect(try await stage.vault().add([(try stage.demand(1), foreign)]).isEmpty)
        stage.time.advance(by: .seconds(6))
        #expect(try await vault.key(.numbered(1), content: Self.movie).content == derived.content)
        while try await vault.key(.numbered(1), content: Self.movie).content != foreign { await Task.yield() }
    }
}

/// A node's own copy: it starts and licenses without the store, and holds changes for it.
@Suite(.timeLimit(.minutes(1))) struct NodeCopyTests {
    private static let movie = ContentName("movie")

    @Test(arguments: TenantVault.Origin.allCases)
    func `a node that starts without the store licenses only keys it has seen before`(
        _ origin: TenantVault.Origin
    ) async throws {
        let stage = try VaultStage(origin: origin)
        let copy = MemoryNodeCopy()
        let before = try await stage.vault(copy: copy)
        let packaged = try await stage.key(stage.demand(1), of: before)
        _ = try await stage.key(stage.demand(2), of: before)
        try await before.setDisabled(true, .numbered(2))
        _ = try? await before.key(.numbered(2))
        _ = try await stage.key(stage.demand(3), of: stage.vault())
        stage.store.setDown(true)
        let vault = try await stage.vault(copy: copy)
        let found = try await vault.key(.numbered(1), content: Self.movie)
        #expect(found.content == packaged)
        #expect(found.facts.origin == .copy)
        await #expect(throws: VaultError.disabled(.numbered(2))) { try await vault.key(.numbered(2)) }
        let error = await #expect(throws: VaultError.self) { try await vault.key(.numbered(3), content: Self.movie) }
        #expect(error?.code == "storeUnavailable")
        stage.store.setDown(false)
        try await stage.tick(vault)
        #expect(try await vault.key(.numbered(1)).facts.origin == .memory)
        #expect(try await vault.key(.numbered(3)).content.key.count == 16)
    }

    @Test func `a node without a copy does not start without the store`() async throws {
        let stage = try VaultStage()
        _ = try await stage.vault()
        stage.store.setDown(true)
        await #expect(throws: VaultError.self) { try await stage.vault() }
    }

    @Test func `a key disabled in an outage is refused here immediately, after a restart, and later everywhere`()
        async throws
    {
        let stage = try VaultStage()
        let copy = MemoryNodeCopy()
        let vault = try await stage.vault(copy: copy)
        let other = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        _ = try await vault.key(.numbered(1))
        _ = try await other.key(.numbered(1))
        stage.store.setDown(true)
        try await stage.tick(vault)
        #expect(try await vault.setDisabled(true, .numbered(1)) == false)
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
        let restarted = try await stage.vault(copy: copy)
        await #expect(throws: VaultError.disabled(.numbered(1))) {
            try await restarted.key(.numbered(1), content: Self.movie)
        }
        // Handing a key out again needs the store.
        await #expect(throws: VaultError.self) { try await restarted.setDisabled(false, .numbered(1)) }

        stage.store.setDown(false)
        try await stage.tick(restarted)
        let guarded = try #require(restarted.store as? GuardedKeyStore)
        let pending = try #require(guarded.pending)
        let isDone = await pending.deliver { change in
            guard case .disabled(_, let kid) = change else { return }
            let isStored = try await restarted.setDisabled(true, try #require(KeyID(kid)))
            #expect(isStored)
        }
        #expect(isDone)
        #expect(try await copy.changes().isEmpty)
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await restarted.key(.numbered(1)) }
        try await other.refresh()
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await other.key(.numbered(1)) }
    }

    @Test func `without a copy a key cannot be disabled while the store is down, and the caller gets an error`()
        async throws
    {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        stage.store.setDown(true)
        await #expect(throws: VaultError.self) { try await vault.setDisabled(true, .numbered(1)) }
    }

    @Test func `a copy forgets a key that the store no longer has`() async throws {
        let stage = try VaultStage()
        let copy = MemoryNodeCopy()
        let vault = try await stage.vault(copy: copy)
        copy.keep([try await stage.row(9, of: vault)])
        #expect(copy.kids.contains(.numbered(9)))
        await #expect(throws: VaultError.unknown(.numbered(9))) { try await vault.key(.numbered(9)) }
        #expect(!copy.kids.contains(.numbered(9)))
    }

    @Test func `changes are delivered in order, and a rejected one holds back later ones`() async throws {
        let copy = MemoryNodeCopy()
        let pending = try await PendingChanges.open(copy)
        for text in ["a", "b", "c"] { try await pending.add(.audit(text: text)) }
        var seen: [String] = []
        let isDone = await pending.deliver { change in
            guard case .audit(let text) = change else { return }
            if text == "b" { throw StoreError(.unavailable, "test", reason: "Away.") }
            seen.append(text)
        }
        #expect(!isDone)
        #expect(seen == ["a"])
        #expect(try await PendingChanges.open(copy).count == 2)
    }
}

extension VaultStage {
    /// A row that no store has.
    fileprivate func row(_ number: UInt8, of vault: TenantVault) async throws -> KeyRow {
        let other = try VaultStage()
        _ = try await other.key(other.demand(number), of: other.vault())
        return try #require(try await other.store.inner.rows([.numbered(number)], of: "acme").first)
    }
}
