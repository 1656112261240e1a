import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyVault

/// Keys that a vault replaces or removes.
@Suite(.timeLimit(.minutes(1))) struct KeyReplacementTests {
    private static func key(_ byte: UInt8) throws -> ContentKey {
        try #require(
            ContentKey(
                key: Secret([UInt8](repeating: byte, count: 16)), iv: Secret([UInt8](repeating: byte, count: 16))))
    }

    @Test func `a licensed key is replaced immediately, and keeps its policies and its disabled state`()
        async throws
    {
        let stage = try VaultStage()
        let (vault, demand) = (try await stage.vault(), try stage.demand(1))
        #expect(try await vault.add([(demand: demand, key: Self.key(1))], policies: ["uhd"]).isEmpty)
        #expect(try await vault.key(.numbered(1)).content == Self.key(1))
        let replacement = try await vault.replacement(by: demand, Self.key(2))
        #expect(try await vault.key(.numbered(1)).content == Self.key(1), "Nothing is done before the audit has it.")
        try await vault.carryOut(replacement)
        let held = try await vault.key(.numbered(1))
        #expect(held.content == (try Self.key(2)))
        #expect(held.facts.policies == ["uhd"])
        try await vault.setDisabled(true, .numbered(1))
        try await vault.carryOut(vault.replacement(by: demand, Self.key(3), policies: ["hd"]))
        await #expect(throws: VaultError.disabled(.numbered(1))) { try await vault.key(.numbered(1)) }
        try await vault.setDisabled(false, .numbered(1))
        #expect(try await vault.key(.numbered(1)).facts.policies == ["hd"])
    }

    @Test func `fingerprints distinguish keys without showing bytes`() async throws {
        let stage = try VaultStage()
        let (vault, demand) = (try await stage.vault(), try stage.demand(1))
        _ = try await vault.add([(demand: demand, key: Self.key(1))])
        let there = try await vault.replacement(by: demand, Self.key(2))
        #expect(there.former != there.new)
        try await vault.carryOut(there)
        // Also after a new data key, and on another node.
        try await vault.secrets.renewDataKey()
        let back = try await stage.vault().replacement(by: demand, Self.key(1))
        #expect(back.former == there.new)
        #expect(back.new == there.former)
        #expect(back.details == ["former": back.former, "new": there.former])
        for text in [back.former, there.former] {
            #expect(text.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect(text != (try Self.key(1)).key.revealed.prefix(8).hexString)
        }
        let other = try VaultStage()
        let elsewhere = try await other.vault()
        _ = try await elsewhere.add([(demand: demand, key: Self.key(1))])
        #expect(
            try await elsewhere.removal(of: .numbered(1)).former != there.former, "Each tenant has digests of its own.")
    }

    @Test func `a removed key is gone, and a new one can take its place`() async throws {
        let stage = try VaultStage()
        let (vault, demand) = (try await stage.vault(), try stage.demand(1))
        _ = try await vault.add([(demand: demand, key: Self.key(1))])
        _ = try await vault.key(.numbered(1))
        try await vault.carryOut(vault.removal(of: .numbered(1)))
        await #expect(throws: VaultError.unknown(.numbered(1))) { try await vault.key(.numbered(1)) }
        await #expect(throws: VaultError.unknown(.numbered(1))) { try await vault.removal(of: .numbered(1)) }
        #expect(try await vault.add([(demand: demand, key: Self.key(2))]).isEmpty)
        #expect(try await vault.key(.numbered(1)).content == Self.key(2))
    }

    @Test func `of two concurrent replacements the slower changes nothing`() async throws {
        let stage = try VaultStage()
        let (vault, other, demand) = (try await stage.vault(), try await stage.vault(), try stage.demand(1))
        _ = try await vault.add([(demand: demand, key: Self.key(1))])
        let (one, two) = (
            try await vault.replacement(by: demand, Self.key(2)), try await other.removal(of: .numbered(1))
        )
        try await vault.carryOut(one)
        await #expect(throws: VaultError.changedMeanwhile(.numbered(1))) { try await other.carryOut(two) }
        #expect(try await other.key(.numbered(1)).content == Self.key(2))
        // The other finds a key that one replaces without a notice.
        try await other.carryOut(other.replacement(by: demand, Self.key(3)))
        try await vault.refresh()
        #expect(try await vault.key(.numbered(1)).content == Self.key(3))
    }

    @Test func `a row that does not open can still be removed`() async throws {
        let stage = try VaultStage()
        let (vault, demand) = (try await stage.vault(), try stage.demand(1))
        _ = try await vault.add([(demand: demand, key: Self.key(1))])
        var row = try #require(try await stage.store.inner.rows([.numbered(1)], of: "acme").first)
        let held = row.sealed
        row.sealed.sealed[0] ^= 1
        #expect(try await stage.store.inner.replace(held, by: row))
        let removal = try await vault.removal(of: .numbered(1))
        #expect(removal.former == "unreadable")
        try await vault.carryOut(removal)
        #expect(try await stage.store.inner.count(of: "acme") == 0)
    }
}
