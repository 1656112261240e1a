import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct TenantVaultTests {
    @Test(arguments: TenantVault.Origin.allCases)
    func `an address has one key and one IV, on two nodes and after a restart`(_ origin: TenantVault.Origin)
        async throws
    {
        let stage = try VaultStage(origin: origin)
        let (one, other) = (try await stage.vault(), try await stage.vault())
        let demand = try stage.demand(1)
        async let first = stage.key(demand, of: one)
        async let second = stage.key(demand, of: other)
        let keys = try await [first, second, stage.key(demand, of: one), stage.key(demand, of: stage.vault())]
        #expect(Set(keys).count == 1)
        #expect(try await stage.key(stage.demand(2), of: one).key != keys[0].key)
        #expect(keys[0].key != keys[0].iv)
    }

    @Test(arguments: TenantVault.Origin.allCases)
    func `two nodes that find no key at the same time return the key that was stored`(
        _ origin: TenantVault.Origin
    ) async throws {
        let stage = try VaultStage(origin: origin)
        let (one, other) = (try await stage.vault(), try await stage.vault())
        let gate = Promise<Void, any Error>()
        stage.store.gate.withLock { $0 = gate }
        let demand = try stage.demand(1)
        async let first = stage.key(demand, of: one)
        async let second = stage.key(demand, of: other)
        // Both have seen that there is no row.
        while stage.store.count("rows were read") < 2 { await Task.yield() }
        gate.resolve(.success(()))
        let keys = try await [first, second]
        #expect(keys[0] == keys[1])
        #expect(try await stage.key(demand, of: stage.vault()) == keys[0])
    }

    @Test func `importing a key of another content is a conflict, and the key stays the other's`()
        async throws
    {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let made = try await stage.key(stage.demand(1), of: vault)
        #expect(try await vault.add([(try stage.demand(1, content: "other"), made)]) == [KeyID.numbered(1)])
        #expect(try await vault.key(.numbered(1), content: ContentName("movie")).content == made)
    }

    @Test func `a license uses the packager's facts about a key`() async throws {
        let stage = try VaultStage()
        let demand = try stage.demand(1, iv: 9, track: "UHD1", periods: [3, 4])
        let packaged = try await stage.key(demand, of: stage.vault())
        let found = try await stage.vault().key(demand.address.kid)
        #expect(found.content == packaged)
        #expect(found.content.iv == demand.iv)
        #expect(found.facts.id == demand.address.kid)
        #expect(found.facts.content == "movie")
        #expect(found.facts.track == .uhd1)
        #expect(found.scheme == .cbcs)
        let row = try #require(try await stage.store.inner.rows([demand.address.kid], of: "acme").first)
        #expect(row.periods == [3, 4])
        #expect(row.trackType == "UHD1")
        #expect(row.created == Date(timeIntervalSince1970: 1_767_225_600))
    }

    @Test func `a batch of periods is one read and one write, and a license needs none`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let demands = try (1...80).map { try stage.demand($0, periods: [UInt32($0)]) }
        #expect(try await vault.keys(for: demands).count == 80)
        #expect(stage.store.count("rows") == 1)
        #expect(stage.store.count("add") == 1)
        _ = try await vault.key(.numbered(1))
        #expect(stage.store.count("add") == 1)
    }

    @Test func `a key requested once needs no store`() async throws {
        let stage = try VaultStage(origin: .stored)
        let vault = try await stage.vault()
        let packaged = try await stage.key(stage.demand(1), of: vault)
        _ = try await vault.key(.numbered(1))
        let reads = stage.store.count("rows")
        stage.store.setDown(true)
        for _ in 0..<10 { #expect(try await vault.key(.numbered(1)).content == packaged) }
        #expect(stage.store.count("rows") == reads)
    }

    @Test func `concurrent callers for a key share one read`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let packaged = try await stage.key(stage.demand(1), of: vault)
        let gate = Promise<Void, any Error>()
        stage.store.gate.withLock { $0 = gate }
        let reads = stage.store.count("rows")
        let keys = try await withThrowingTaskGroup(of: ContentKey.self) { group in
            for _ in 0..<50 { group.addTask { try await vault.key(.numbered(1)).content } }
            gate.resolve(.success(()))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(keys == [ContentKey](repeating: packaged, count: 50))
        // Tasks that begin after the first read ended find its answer.
        #expect(stage.store.count("rows") == reads + 1)
    }

    @Test func `a stored key is not derived while the store is down`() async throws {
        let stage = try VaultStage(origin: .stored)
        let demand = try stage.demand(1)
        _ = try await stage.key(demand, of: stage.vault())
        let other = try await stage.vault()
        stage.store.setDown(true)
        let error = await #expect(throws: VaultError.self) {
            try await other.key(.numbered(1), content: demand.address.content)
        }
        #expect(error?.code == "storeUnavailable")
        await #expect(throws: VaultError.self) { try await stage.key(try stage.demand(2), of: other) }
    }

    @Test func `while the store is down packagers get no new key, which might contradict a row`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        stage.store.setDown(true)
        let error = await #expect(throws: VaultError.self) { try await stage.key(stage.demand(1), of: vault) }
        #expect(error?.code == "storeUnavailable")
        #expect(await vault.writePending() == 0)
    }

    @Test func `if keys without a row are derived, packagers get them during an outage, and rows follow`()
        async throws
    {
        let stage = try VaultStage(unlisted: .derive)
        let vault = try await stage.vault()
        stage.store.setDown(true)
        let packaged = try await stage.key(stage.demand(1), of: vault)
        #expect(try await vault.key(.numbered(1)).content == packaged)
        await #expect(throws: VaultError.self) { try await stage.key(try stage.demand(2, iv: 9), of: vault) }
        stage.store.setDown(false)
        try await stage.tick(vault)
        #expect(await vault.writePending() == 0)
        #expect(try await stage.vault().key(.numbered(1)).content == packaged)
    }

    @Test func `a missing key is remembered briefly`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        for _ in 0..<3 {
            await #expect(throws: VaultError.unknown(.numbered(1))) { try await vault.key(.numbered(1)) }
        }
        #expect(stage.store.count("rows") == 1)
        let packaged = try await stage.key(stage.demand(1), of: stage.vault())
        stage.time.advance(by: .seconds(6))
        #expect(try await vault.key(.numbered(1)).content == packaged)
    }

    @Test func `a disabled key is refused as such, elsewhere after a notice`() async throws {
        let stage = try VaultStage()
        let (one, other) = (try await stage.vault(), try await stage.vault())
        let demand = try stage.demand(1)
        _ = try await stage.key(demand, of: one)
        _ = try await other.key(.numbered(1))
        try await one.setDisabled(true, .numbered(1))
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await one.key(.numbered(1)) }
        await #expect(throws: VaultError.disabled(.numbered(1))) {
            try await one.key(.numbered(1), content: demand.address.content)
        }
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await stage.key(demand, of: one) }
        _ = try await other.key(.numbered(1))
        other.noteChange(of: .numbered(1))
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await other.key(.numbered(1)) }
        try await one.setDisabled(false, .numbered(1))
        try await other.refresh()
        _ = try await other.key(.numbered(1))
    }

    @Test func `an answer read before a change is not kept after it`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        let gate = Promise<Void, any Error>()
        stage.store.gate.withLock { $0 = gate }
        let reads = stage.store.count("rows were read")
        let read = Task { try await vault.key(.numbered(1)) }
        while stage.store.count("rows were read") == reads { await Task.yield() }
        _ = try await stage.store.inner.setDisabled(true, .numbered(1), of: "acme")
        vault.noteChange(of: .numbered(1))
        stage.store.gate.withLock { $0 = nil }
        gate.resolve(.success(()))
        _ = try? await read.value
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
    }

    @Test func `a kid is of one content, and a key has one IV`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        await #expect(throws: VaultError.anotherContent(.numbered(1))) {
            try await stage.key(try stage.demand(1, content: "another"), of: vault)
        }
        await #expect(throws: VaultError.anotherIV(.numbered(1))) {
            try await stage.key(try stage.demand(1, iv: 9), of: vault)
        }
    }

    @Test func `past the tenant's limit new keys are refused, even by import, and existing ones are not`() async throws
    {
        var stage = try VaultStage()
        let refusals = Locked(0)
        (stage.settings.mostRows, stage.settings.whenFull) = (2, { refusals.withLock { $0 += 1 } })
        let vault = try await stage.vault()
        let demands = try (1...3).map { try stage.demand($0) }
        for demand in demands[..<2] { _ = try await stage.key(demand, of: vault) }
        await #expect(throws: VaultError.tooMany(limit: 2)) { try await stage.key(demands[2], of: vault) }
        let key = try await stage.key(demands[0], of: vault)
        #expect(try await vault.add([(demands[0], key)]).isEmpty)
        await #expect(throws: VaultError.tooMany(limit: 2)) { try await vault.add([(demands[2], key)]) }
        #expect(refusals.withLock { $0 } == 2)
    }

    @Test func `imported keys are returned as is, and do not replace others`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let made = try await stage.key(stage.demand(1), of: vault)
        let foreign = try #require(
            ContentKey(key: Secret([UInt8](repeating: 5, count: 16)), iv: Secret([UInt8](repeating: 6, count: 16))))
        let demands = [try stage.demand(1), try stage.demand(2)]
        #expect(
            try await vault.add(demands.map { ($0, foreign) }, policies: ["rental"]) == [KeyID.numbered(1)])
        #expect(try await vault.key(.numbered(1)).content == made)
        #expect(try await vault.key(.numbered(2)).content == foreign)
        #expect(try await vault.key(.numbered(2)).facts.policies == ["rental"])
        #expect(try await stage.key(demands[1], of: vault) == foreign)
    }

    @Test func `open keys are kept up to a limit, the most requested longest`() {
        var values = RecentValues<Int, Int>(limit: 10)
        values.set(0, for: 0)
        for number in 1...1_000 {
            values.set(number, for: number)
            #expect(values.value(0) == 0)
            #expect(values.count <= 10)
        }
        #expect(values.value(1) == nil)
        #expect(values.value(1_000) == 1_000)
        values.remove(1_000)
        #expect(values.value(1_000) == nil)
    }
}
