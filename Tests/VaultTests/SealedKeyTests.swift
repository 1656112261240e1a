import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct SealedKeyTests {
    private let kid: KeyID
    private let content: ContentKey
    private let dataKey: DataKey

    init() throws {
        kid = try #require(KeyID(bytes: Array(0..<16)))
        content = try #require(
            ContentKey(key: Secret(Array(16..<32 as Range<UInt8>)), iv: Secret(Array(32..<48 as Range<UInt8>))))
        var generator = SeededGenerator(seed: 1)
        dataKey = DataKey(tenant: "acme", version: 1, using: &generator)
    }

    private func sealed() throws -> SealedKey {
        var generator = SeededGenerator(seed: 2)
        return try dataKey.seal(content, kid: kid, using: &generator)
    }

    private func wrapper(_ id: String, _ byte: UInt8) throws -> KeyEncryptionKey {
        try KeyEncryptionKey(id: id, key: Secret([UInt8](repeating: byte, count: 32)))
    }

    @Test func `the cipher is AES-256-GCM as in test case 16 of its specification`() throws {
        let key = Secret(
            try #require(Data(hexString: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
        let nonce = Array(try #require(Data(hexString: "cafebabefacedbaddecaf888")))
        let plain = try #require(
            Data(
                hexString: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"))
        let context = Array(try #require(Data(hexString: "feedfacedeadbeeffeedfacedeadbeefabaddad2")))
        let sealed = try AESGCM.seal(Secret(plain), key: key, nonce: nonce, context: context)
        #expect(
            sealed.hexString == "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(try AESGCM.open(sealed, key: key, nonce: nonce, context: context)?.revealed == plain)
    }

    @Test func `a sealed key opens in its place`() throws {
        #expect(try dataKey.contentKey(try sealed()) == content)
    }

    @Test func `a sealed key shows nothing of the key`() throws {
        let row = try sealed()
        let bytes = Data(row.sealed)
        #expect(bytes.range(of: content.key.revealed) == nil)
        #expect(bytes.count == 48)
        #expect(!"\(row)".contains(content.key.revealed.hexString))
    }

    @Test func `a row copied to another tenant, kid, purpose or version does not open`() throws {
        let row = try sealed()
        let other = try #require(KeyID(bytes: Array(1..<17)))
        var moved = [row, row, row, row]
        moved[0].subject = .contentKey(other)
        moved[1].subject = .seed(SeedVersion(1))
        moved[2].dataKey = 2
        moved[3].tenant = "acmf"
        // The last two with data keys of the same bytes, so that only the place differs.
        let opening = [
            dataKey, dataKey, DataKey(tenant: "acme", version: 2, key: dataKey.key),
            DataKey(tenant: "acmf", version: 1, key: dataKey.key),
        ]
        let kinds = zip(moved, opening).map { row, key in
            #expect(throws: VaultError.self) { try key.open(row) }?.kind
        }
        #expect(kinds == [.doesNotOpen, .doesNotOpen, .doesNotOpen, .doesNotOpen])
    }

    @Test func `a tenant's name does not run over into the next field`() {
        let one = SealedKey.context(tenant: "ab", subject: .seed(SeedVersion(1)), dataKey: 1)
        let other = SealedKey.context(tenant: "a", subject: .seed(SeedVersion(1)), dataKey: 1)
        #expect(one.count == "latchkey/key/1".utf8.count + 4 + 2 + 4 + 4 + 4 + 4 + 4 + 4)
        #expect(one.count == other.count + 1)
        #expect(Array(one[14..<20]) == [0, 0, 0, 2] + Array("ab".utf8))
    }

    @Test(arguments: 0..<60)
    func `no changed byte opens`(_ index: Int) throws {
        var row = try sealed()
        if index < 12 { row.nonce[index] ^= 1 } else { row.sealed[index - 12] ^= 1 }
        #expect(throws: VaultError.self) { try dataKey.open(row) }
    }

    @Test(arguments: 0..<48)
    func `no shortened row opens`(_ count: Int) throws {
        var row = try sealed()
        row.sealed = Array(row.sealed.prefix(count))
        #expect(throws: VaultError.self) { try dataKey.open(row) }
        row.nonce = Array(row.nonce.prefix(count % 12))
        #expect(throws: VaultError.self) { try dataKey.open(row) }
    }

    @Test func `a new key encryption key rewraps the data key and keeps the rows`() throws {
        var generator = SeededGenerator(seed: 3)
        let row = try sealed()
        let old = try wrapper("2025", 1)
        let new = try wrapper("2026", 2)
        let wrapped = try old.wrap(dataKey, using: &generator)
        let rewrapped = try old.rewrap(wrapped, with: new, using: &generator)
        #expect(rewrapped.wrapper == "2026")
        #expect(rewrapped.wrapped != wrapped.wrapped)
        #expect(try new.unwrap(rewrapped).contentKey(row) == content)
        #expect(#expect(throws: VaultError.self) { try old.unwrap(rewrapped) }?.kind == .anotherKey)
    }

    @Test func `a wrapped data key opens only for its tenant and wrapper`() throws {
        var generator = SeededGenerator(seed: 3)
        let row = try wrapper("a", 1).wrap(dataKey, using: &generator)
        let moved = WrappedDataKey(
            tenant: "acmf", version: row.version, wrapper: row.wrapper, nonce: row.nonce, wrapped: row.wrapped)
        #expect(#expect(throws: VaultError.self) { try wrapper("a", 1).unwrap(moved) }?.kind == .doesNotOpen)
        #expect(#expect(throws: VaultError.self) { try wrapper("a", 2).unwrap(row) }?.kind == .doesNotOpen)
    }

    @Test func `a seed is sealed like a key`() throws {
        var generator = SeededGenerator(seed: 4)
        let seed = Secret([UInt8](repeating: 5, count: 40))
        let row = try dataKey.seal(seed, as: .seed(SeedVersion(3)), using: &generator)
        #expect(try dataKey.open(row) == seed)
        #expect(throws: VaultError.self) { try dataKey.contentKey(row) }
    }

    @Test func `two seals of one key differ`() throws {
        var generator = SeededGenerator(seed: 5)
        let one = try dataKey.seal(content, kid: kid, using: &generator)
        let other = try dataKey.seal(content, kid: kid, using: &generator)
        #expect(one.nonce != other.nonce)
        #expect(one.sealed != other.sealed)
    }

    @Test func `a data key seals only as often as random nonces allow`() throws {
        var generator = SeededGenerator(seed: 6)
        let key = DataKey(tenant: "acme", version: 1, key: dataKey.key, sealed: DataKey.sealLimit - 1)
        _ = try key.seal(content, kid: kid, using: &generator)
        let error = #expect(throws: VaultError.self) { try key.seal(content, kid: kid, using: &generator) }
        #expect(error?.kind == .dataKeyExhausted)
    }

    @Test(arguments: [("", 32), ("id", 16), ("id", 0)])
    func `a key encryption key needs a name and 32 bytes`(_ id: String, _ count: Int) {
        #expect(throws: VaultError.self) {
            try KeyEncryptionKey(id: id, key: Secret([UInt8](repeating: 1, count: count)))
        }
    }
}
