import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct TenantSecretsTests {
    @Test func `many concurrent creators of a tenant get one data key and one seed`() async throws {
        let stage = try VaultStage()
        let keys = try await withThrowingTaskGroup(of: ContentKey.self) { group in
            for _ in 0..<20 {
                group.addTask { try await stage.key(stage.demand(1), of: stage.vault()) }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try await stage.store.inner.dataKeys().count == 1)
        #expect(try await stage.store.inner.seeds(of: "acme").count == 1)
    }

    @Test func `a node that loses the race to create a tenant uses the winner's secrets`() async throws {
        let stage = try VaultStage()
        let first = try await stage.key(stage.demand(1), of: stage.vault())
        stage.store.early.withLock { $0 = ["dataKeys", "seeds"] }
        let second = try await stage.vault()
        #expect(stage.store.early.withLock { $0.isEmpty })
        #expect(try await stage.key(stage.demand(1), of: second) == first)
        #expect(
            try await second.secrets.seeds?.seed(SeedVersion(1)) == stage.vault().secrets.seeds?.seed(SeedVersion(1)))
        #expect(try await stage.store.inner.dataKeys().count == 1)
    }

    @Test func `a node that finds no seed for a new tenant adds none after another's`() async throws {
        let stage = try VaultStage()
        _ = try await stage.vault()
        stage.store.early.withLock { $0 = ["seeds", "seeds"] }
        _ = try await stage.vault()
        #expect(stage.store.early.withLock { $0.isEmpty })
        #expect(try await stage.store.inner.seeds(of: "acme").count == 1)
    }

    @Test func `a tenant missing from the store gets no new seed`() async throws {
        let stage = try VaultStage()
        await #expect(throws: VaultError.tenantMissing("acme")) {
            try await TenantSecrets.open("acme", in: stage.store, with: stage.wrapping)
        }
        #expect(try await stage.store.inner.dataKeys().isEmpty)
    }

    @Test func `a tenant whose keys exist gets no new secrets, even by creation`() async throws {
        let (stage, other) = (try VaultStage(), try VaultStage())
        let vault = try await stage.vault()
        _ = try await stage.key(stage.demand(1), of: vault)
        let rows = try await stage.store.inner.rows([.numbered(1)], of: "acme")
        _ = try await other.store.inner.add(rows)
        await #expect(throws: VaultError.secretsLost("acme")) {
            try await TenantSecrets.create("acme", in: other.store, with: other.wrapping)
        }
        #expect(try await other.store.inner.dataKeys().isEmpty)
        #expect(try await other.store.inner.seeds(of: "acme").isEmpty)
    }

    @Test func `configured seeds replace the store's`() async throws {
        let stage = try VaultStage()
        _ = try await stage.vault()
        let seeds = try TenantSeeds(
            tenant: "acme", seeds: [SeedVersion(7): Secret([UInt8](repeating: 7, count: 32))], current: SeedVersion(7))
        let secrets = try await TenantSecrets.open("acme", in: stage.store, with: stage.wrapping, seeds: seeds)
        let demand = try stage.demand(1)
        let key = try await stage.key(demand, of: TenantVault(secrets, store: stage.store))
        #expect(key == (try KeyDerivation(seeds).key(at: demand.address)))
    }

    @Test func `a new key encryption key rewraps the tenants' data keys, and touches no key`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        for tenant in ["b", "c"] { _ = try await TenantSecrets.create(tenant, in: stage.store, with: stage.wrapping) }
        let packaged = try await stage.key(stage.demand(1), of: vault)
        let calls = ["rows", "add", "sealedBefore", "reseal"].map(stage.store.count)
        stage.wrapping.use(try VaultStage.wrapper("kek-2", 2))
        // The old key opens until all is done.
        _ = try await stage.vault()
        #expect(try await stage.wrapping.rewrap(in: stage.store) == 3)
        #expect(try await stage.wrapping.rewrap(in: stage.store) == 0)
        #expect(["rows", "add", "sealedBefore", "reseal"].map(stage.store.count) == calls)
        #expect(Set(try await stage.store.inner.dataKeys().map(\.wrapper)) == ["kek-2"])
        let new = KeyEncryptionKeys(try VaultStage.wrapper("kek-2", 2))
        let opened = TenantVault(try await TenantSecrets.open("acme", in: stage.store, with: new), store: stage.store)
        #expect(try await opened.key(.numbered(1)).content == packaged)
        let old = KeyEncryptionKeys(try VaultStage.wrapper("kek-1", 1))
        await #expect(throws: VaultError.self) { try await TenantSecrets.open("acme", in: stage.store, with: old) }
    }

    @Test func `a new data key reseals everything, and resumes after an interruption`() async throws {
        let stage = try VaultStage()
        let (vault, other) = (try await stage.vault(), try await stage.vault())
        let demands = try (1...25).map { try stage.demand($0) }
        let packaged = try await vault.keys(for: demands)
        #expect(try await vault.secrets.renewDataKey() == 2)
        let interrupted = Task { try await vault.secrets.reseal(limit: 10) }
        interrupted.cancel()
        _ = try await interrupted.value
        // A row sealed by the new key opens on a node that did not know the key.
        _ = try await vault.keys(for: [try stage.demand(26)])
        _ = try await other.key(.numbered(26))
        _ = try await other.secrets.reseal(limit: 10)
        #expect(try await other.secrets.reseal(limit: 10) == 0)
        #expect(try await stage.store.inner.rows(of: "acme", sealedBefore: 2, limit: 10).isEmpty)
        #expect(try await stage.store.inner.seeds(of: "acme").allSatisfy { $0.dataKey == 2 })
        let after = try await stage.vault()
        for demand in demands {
            #expect(try await after.key(demand.address.kid).content == packaged[demand.address])
        }
    }

    @Test func `a seed is not remembered for a content without a stored key`() async throws {
        let stage = try VaultStage(unlisted: .derive)
        let (former, vault) = (try await stage.vault(), try await stage.vault())
        try await vault.secrets.renewSeed()
        let derivation = KeyDerivation(try #require(vault.secrets.seeds))
        let (first, third) = (try stage.demand(1).address, try stage.demand(3).address)
        #expect(try await vault.key(first.kid, content: first.content).content == derivation.key(at: first))
        // A node that does not know the new seed yet stores a key of this content.
        _ = try await stage.key(stage.demand(2), of: former)
        let key = try await vault.key(third.kid, content: third.content).content
        #expect(key == (try derivation.key(at: third, version: SeedVersion(1))))
        #expect(key != (try derivation.key(at: third)))
    }

    @Test func `a content keeps its seed, and new content gets the new one`() async throws {
        let stage = try VaultStage()
        let vault = try await stage.vault()
        let first = try await stage.key(stage.demand(1), of: vault)
        let derivation = KeyDerivation(try #require(vault.secrets.seeds))
        try await vault.secrets.renewSeed()
        let seeds = try #require(vault.secrets.seeds)
        #expect(seeds.current == SeedVersion(2))
        let demand = try stage.demand(2)
        #expect(try await stage.key(demand, of: vault) == derivation.key(at: demand.address))
        let new = try stage.demand(3, content: "movie 2")
        #expect(try await stage.key(new, of: vault) == KeyDerivation(seeds).key(at: new.address))
        #expect(try await stage.key(stage.demand(1), of: vault) == first)
        // A node that follows has the new seed, too.
        let follower = try await stage.vault()
        try await vault.secrets.renewSeed()
        #expect(follower.secrets.seeds?.current == SeedVersion(2))
        try await follower.refresh()
        #expect(follower.secrets.seeds?.current == SeedVersion(3))
        // Without the store the seed of an unknown content cannot be determined: no key rather than a wrong one.
        let other = try await stage.vault()
        stage.store.setDown(true)
        await #expect(throws: VaultError.self) { try await other.key(.numbered(1), content: demand.address.content) }
    }
}
