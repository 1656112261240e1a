import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

/// The contents of a CKC that a module makes.
@Suite(.timeLimit(.minutes(5))) struct ContentKeyContextTests {
    @Test func `a CKC has the wrapped key, R1 and the requested blocks unchanged`() throws {
        let forge = SPCForge()
        let ckc = try MadeCKC(forge, LicenseTerms())
        let key = try #require(ckc.blocks.value(.contentKey))
        #expect(key.prefix(16).elementsEqual(MadeCKC.iv))
        var unwrapped = Array(key.suffix(16))
        try SPCForge.sessionKey.withUnsafeBytes { try AESCBC().apply(.decrypt, to: &unwrapped, key: $0) }
        #expect(unwrapped == MadeCKC.key)
        #expect(ckc.blocks.value(.r1)?.elementsEqual(SPCForge.r1) == true)
        let opaque = TLLVTag(rawValue: 0xfeed)
        #expect(ckc.blocks.raw(opaque).map { Array($0) } == SPCForge.block(opaque, Array("opaque".utf8)))
        #expect(ckc.blocks.raw(.integrity).map { Array($0) } == SPCForge.block(.integrity, SPCForge.integrity))
        #expect(ckc.blocks.blocks.count == 4)
    }

    @Test(
        arguments: [
            (.lease(.seconds(300)), "0000012c000000001a4bde7e86d34a3a"),
            (.rental(.seconds(7_200)), "0000000000001c203dfe45a086d34a3a"),
            (.leaseAndRental(lease: .seconds(300), rental: .seconds(7_200)), "0000012c00001c2027b59bde86d34a3a"),
            (.persistent, "00000000000000003df2d9fb86d34a3a"),
            (.persistentFor(.seconds(86_400)), "000000000001518018f0604886d34a3a"),
            (.lease(.milliseconds(1_500)), "00000002000000001a4bde7e86d34a3a"),
            (.lease(.zero), "00000001000000001a4bde7e86d34a3a"),
            (.lease(.seconds(1 << 40)), "ffffffff000000001a4bde7e86d34a3a"),
        ] as [(LicenseTerms.Validity, String)])
    func `terms are written in the device's form`(validity: LicenseTerms.Validity, value: String) throws {
        let ckc = try MadeCKC(SPCForge(), LicenseTerms(validity))
        #expect(ckc.blocks.value(.contentKeyDuration)?.hexString == value)
    }

    @Test func `dual expiry replaces the duration`() throws {
        let validity = LicenseTerms.Validity.dualExpiry(storage: .seconds(2_592_000), playback: .seconds(86_400))
        let ckc = try MadeCKC(SPCForge(), LicenseTerms(validity))
        let value = try #require(ckc.blocks.value(.offlineKey))
        #expect(value.prefix(8).hexString == "0000000100000000")
        #expect(value.suffix(8).hexString == "00278d0000015180")
        #expect(value.count == 32)
        #expect(ckc.blocks[.contentKeyDuration] == nil)
    }

    @Test(
        arguments: [
            (.unlimited, false), (.lease(.seconds(9)), false), (.rental(.seconds(9)), false),
            (.leaseAndRental(lease: .seconds(9), rental: .seconds(9)), false), (.persistent, true),
            (.persistentFor(.seconds(9)), true),
        ] as [(LicenseTerms.Validity, Bool)])
    func `without a stated playback only a stored key has a duration`(
        validity: LicenseTerms.Validity, isStated: Bool
    ) throws {
        var forge = SPCForge()
        forge[.mediaPlaybackState] = nil
        let ckc = try MadeCKC(forge, LicenseTerms(validity))
        #expect((ckc.blocks[.contentKeyDuration] != nil) == isStated)
    }

    @Test(arguments: [
        (HDCPRequirement.notRequired, "ef72894ca7895b78"), (.type0, "40791ac78bd5c571"), (.type1, "285a0863bba8e1d3"),
    ])
    func `the display requirement is written`(hdcp: HDCPRequirement, code: String) throws {
        let value = try MadeCKC(SPCForge(), LicenseTerms(hdcp: hdcp)).blocks.value(.hdcpRequirement)
        #expect(value?.count == 16)
        #expect(value?.prefix(8).hexString == code)
    }

    @Test func `one seed gives one CKC, another seed another order, padding and IV`() throws {
        let made = try (0..<40 as Range<UInt64>).map { try MadeCKC(SPCForge(), LicenseTerms(.persistent), seed: $0) }
        #expect(try MadeCKC(SPCForge(), LicenseTerms(.persistent), seed: 5).bytes == made[5].bytes)
        #expect(Set(made.map { $0.blocks.blocks.map(\.tag) }).count > 20)
        #expect(Set(made.map { $0.blocks.bytes.count }).count > 2)
        #expect(Set(made.map { $0.bytes[8..<24].hexString }).count == 40)
    }

    @Test func `a block is padded by less than two blocks, never with one byte alone`() throws {
        for seed in 0..<20 as Range<UInt64> {
            for block in try MadeCKC(SPCForge(), LicenseTerms(.persistent), seed: seed).blocks.blocks {
                #expect(block.blockLength - block.valueLength < 32)
                #expect(block.blockLength % 16 == 0)
            }
        }
    }

    @Test func `many tasks answer one SPC`() async throws {
        let module = SPCForge().module
        let context = try module.open(SPCForge().spc())
        let expected = try MadeCKC(SPCForge(), LicenseTerms()).bytes
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    var generator = SeededGenerator(seed: 1)
                    let ckc = try? module.contentKeyContext(
                        for: context, key: MadeCKC.content, terms: LicenseTerms(), using: &generator)
                    return ckc == expected
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

/// A CKC and its decrypted blocks.
struct MadeCKC {
    let bytes: [UInt8]
    let blocks: TLLVSequence

    static let key = [UInt8](repeating: 0x3b, count: 16)
    static let iv = [UInt8](repeating: 0x1f, count: 16)
    static var content: ContentKey {
        guard let content = ContentKey(key: Secret(key), iv: Secret(iv)) else { preconditionFailure("16 bytes each") }
        return content
    }

    init(_ forge: SPCForge, _ terms: LicenseTerms, seed: UInt64 = 1) throws {
        var generator = SeededGenerator(seed: seed)
        bytes = try forge.module.contentKeyContext(
            for: forge.module.open(forge.spc()), key: Self.content, terms: terms, using: &generator)
        let cipher = try AESCBC()
        let key = try SPCForge.r1.withUnsafeBytes {
            try ContentKeyContextKey.make(r1: $0, seed: SPCForge.seed[...], cipher)
        }
        blocks = try CKCContainer(bytes).blocks(key: key, cipher)
    }
}
