import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct KeyDerivationTests {
    private static let seed = Secret([UInt8](repeating: 7, count: 32))
    private static let kid = KeyID(bytes: Array(0..<16))

    private func derivation(
        _ seeds: [SeedVersion: Secret] = [SeedVersion(1): seed], tenant: String = "acme", current: UInt32 = 1
    ) throws -> KeyDerivation {
        KeyDerivation(try TenantSeeds(tenant: tenant, seeds: seeds, current: SeedVersion(current)))
    }

    private func address(_ content: String, period: UInt32? = nil) throws -> KeyAddress {
        KeyAddress(content: try #require(ContentName(content)), kid: try #require(Self.kid), period: period)
    }

    struct Vector: Sendable {
        let seed, salt, info, result: String
    }

    @Test(arguments: [
        Vector(
            seed: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "000102030405060708090a0b0c",
            info: "f0f1f2f3f4f5f6f7f8f9",
            result: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Vector(
            seed: (0...0x4f as ClosedRange<UInt8>).hexString, salt: (0x60...0xaf as ClosedRange<UInt8>).hexString,
            info: (0xb0...0xff as ClosedRange<UInt8>).hexString,
            result: "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"),
        Vector(
            seed: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "", info: "",
            result: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ])
    func `the derivation matches RFC 5869, appendix A`(_ vector: Vector) throws {
        let derived = try HKDF.sha256(
            Secret(try #require(Data(hexString: vector.seed))), salt: Array(try #require(Data(hexString: vector.salt))),
            info: Array(try #require(Data(hexString: vector.info))), count: vector.result.count / 2)
        #expect(derived.revealed.hexString == vector.result)
    }

    @Test func `every node makes the same key and IV`() throws {
        let first = try derivation().key(at: try address("movie", period: 3))
        let second = try derivation().key(at: try address("movie", period: 3))
        #expect(first == second)
        #expect(first.key != first.iv)
    }

    @Test func `the bytes of the derivation never change`() throws {
        let key = try derivation().key(at: try address("movie"))
        // Made with Python's hmac: extract(salt: "acme"), expand("key" ‖ 00000005 ‖ "movie" ‖ kid).
        #expect(key.key.revealed.hexString == "8f691b87000aead4e7f53923511eeb7d")
        #expect(key.iv.revealed.hexString == "6f5a9c291031758cdb30d5ec3ebb495a")
    }

    @Test func `another content, kid, period, tenant or seed gives another key`() throws {
        let other = try #require(KeyID(bytes: Array(1..<17)))
        let content = try #require(ContentName("movie"))
        let keys = [
            try derivation().key(at: try address("movie")),
            try derivation().key(at: try address("Movie")),
            try derivation().key(at: KeyAddress(content: content, kid: other)),
            try derivation().key(at: try address("movie", period: 0)),
            try derivation().key(at: try address("movie", period: 1)),
            try derivation(tenant: "acmf").key(at: try address("movie")),
            try derivation([SeedVersion(1): Secret([UInt8](repeating: 8, count: 32))]).key(at: try address("movie")),
        ]
        #expect(Set(keys.map(\.key)).count == keys.count)
        #expect(Set(keys.map(\.iv)).count == keys.count)
    }

    @Test func `two Unicode forms of one letter are two contents`() throws {
        let composed = try derivation().key(at: try address("caf\u{e9}"))
        let decomposed = try derivation().key(at: try address("cafe\u{301}"))
        #expect(composed != decomposed)
    }

    @Test func `a content keeps the seed it began with`() throws {
        let old = try derivation()
        let new = try derivation(
            [SeedVersion(1): Self.seed, SeedVersion(2): Secret([UInt8](repeating: 9, count: 40))], current: 2)
        let address = try address("movie")
        let remembering = DerivedKeys(new) { $0.text == "movie" ? SeedVersion(1) : nil }
        #expect(try remembering.keys(for: [KeyDemand(address)])[address] == old.key(at: address))
        #expect(try new.key(at: address) != old.key(at: address))
    }

    @Test func `a missing seed is an error that names its version`() throws {
        let error = #expect(throws: VaultError.self) {
            try derivation().key(at: try address("movie"), version: SeedVersion(9))
        }
        #expect(error?.kind == .seedUnknown)
        #expect(error?.reason.contains("9") == true)
    }

    @Test func `short seeds, a missing current seed and a tenant without a name are refused`() {
        #expect(throws: VaultError.self) {
            try derivation([SeedVersion(1): Secret([UInt8](repeating: 7, count: 31))])
        }
        #expect(throws: VaultError.self) { try derivation(current: 2) }
        #expect(throws: VaultError.self) { try derivation(tenant: "") }
    }
}
