import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyPackaging
@testable import LatchkeyVault

/// Keys without a stated IV: 16 zeros, as tools write them and as an earlier version stored them.
@Suite(.timeLimit(.minutes(1))) struct StatedIVTests {
    private static let zeros = Secret([UInt8](repeating: 0, count: 16))

    private static func key(iv: Secret = zeros) throws -> ContentKey {
        try #require(ContentKey(key: Secret([UInt8](repeating: 7, count: 16)), iv: iv))
    }

    private static func demand() throws -> KeyDemand {
        KeyDemand(KeyAddress(content: try #require(ContentName("movie")), kid: try #require(KeyID(APIStage.kid))))
    }

    /// A row as a version before wrote it.
    private static func addFormerRow(to vault: TenantVault) async throws {
        var generator = SystemRandomNumberGenerator()
        let address = try demand().address
        let sealed = try #require(vault.secrets.newest).seal(try key(), kid: address.kid, using: &generator)
        _ = try await vault.store.add([
            KeyRow(kid: address.kid, sealed: sealed, content: address.content, created: Date(timeIntervalSince1970: 0))
        ])
    }

    @Test func `a nonzero IV of the right length counts as stated`() throws {
        #expect(!Self.zeros.isStatedIV)
        #expect(!Secret([UInt8](repeating: 1, count: 15)).isStatedIV)
        #expect(Secret([UInt8](repeating: 0, count: 15) + [1]).isStatedIV)
    }

    @Test func `an old key without an IV gets no FairPlay license, and the refusal gives the remedy`()
        async throws
    {
        let stage = try await APIStage()
        try await Self.addFormerRow(to: stage.vault)
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(answer.response.status == 409)
        #expect(answer.code == "keyWithoutIV")
        #expect(answer.json?["error"]?["reason"]?.text?.contains(APIStage.kid) == true)
        #expect(answer.json?["error"]?["remedy"]?.text?.contains("?replace=\(APIStage.kid)") == true)
        #expect(answer.report.outcome.word == "keyWithoutIV")
        #expect(answer.report.refusal?.retry == .never)
    }

    @Test func `a packager that requests such a key gets an error, whatever its IV`() async throws {
        let stage = try await APIStage()
        try await Self.addFormerRow(to: stage.vault)
        for iv in [nil, Secret([UInt8](repeating: 1, count: 16))] {
            var demand = try Self.demand()
            demand.iv = iv
            await #expect(throws: VaultError.ivMissing(demand.address.kid)) {
                try await stage.vault.keys(for: [demand])
            }
        }
    }

    @Test func `a vault imports no key without an IV`() async throws {
        let stage = try await APIStage()
        let demand = try Self.demand()
        await #expect(throws: VaultError.ivMissing(demand.address.kid)) {
            try await stage.vault.add([(demand: demand, key: try Self.key())])
        }
        #expect(try await stage.vault.store.count(of: "acme") == 0)
    }

    @Test func `CPIX exports such a key without the invented IV, and it is licensed once replaced`()
        async throws
    {
        let stage = try await APIStage()
        try await Self.addFormerRow(to: stage.vault)
        let exported = try await stage.vault.document(of: try Self.demand().address.content)
        #expect(exported.keys.map(\.iv) == [nil])
        let new = try Self.key(iv: Secret([UInt8](repeating: 9, count: 16)))
        let replacement = try await stage.vault.replacement(by: try Self.demand(), new)
        try await stage.vault.carryOut(replacement)
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(try exchange.open(answer.body, at: stage.time).contentKey == new)
    }
}
