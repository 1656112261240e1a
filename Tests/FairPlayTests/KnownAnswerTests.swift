import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

/// The known answers of `Documentation/FairPlay.md` §16.
@Suite struct KnownAnswerTests {
    @Test func `the content key wraps as Apple's technical note shows`() throws {
        let sessionKey = try #require(Data(hexString: "afb46e7bf5f31596c1c676dc15e14dc6"))
        var key = [UInt8](repeating: 0x3b, count: 16)
        try Secret(sessionKey).withUnsafeBytes { try AESCBC().apply(.encrypt, to: &key, key: $0) }
        #expect(key.hexString == "3d564397878b7043e15431f1f86bc562")
    }

    @Test func `session bytes decrypt and wrap under their session key`() throws {
        let block = try #require(Data(hexString: Self.sessionBlock))
        let payload = try TLLVSequence([UInt8](block))
        let key = try #require(Data(hexString: "d9f11e0d0e8e08bc875173eba62526e1"))
        let sealed = try #require(payload.value(.sessionKeyAndR1))
        let session = try SessionBytes(sealed, key: Secret(key), AESCBC())
        #expect(session.deviceIdentifier.revealed.hexString == "c16ee4e768b6a501af5dda8d31bfa1ff15fbb47f")
        #expect(session.withR1(\.hexString) == Self.r1)
        let integrity = try #require(Data(hexString: "e64ec97c7f6200d41dc18ae43af8e175"))
        #expect(session.isWhole(ArraySlice(integrity)))
        #expect(!session.isWhole(ArraySlice(integrity.dropLast() + [0])))
        let content = try #require(ContentKey(key: Secret([UInt8](repeating: 1, count: 16)), iv: Secret(integrity)))
        let wrapped = try session.wrap(content, AESCBC())
        #expect(wrapped.prefix(16).elementsEqual(integrity))
        // openssl enc -aes-128-ecb -nopad -K 7e88d66fef9394f893ead034a8f5cb2e over sixteen bytes of 01
        #expect(wrapped.suffix(16).hexString == "3edaa785a73fe06d0b5afc07a556e43d")
    }

    @Test func `a block's value ends before its padding`() throws {
        let bytes = try #require(
            Data(hexString: "aabbccddaabbccdd000000100000000401234567" + "89abcdef01234567890abcde"))
        let payload = try TLLVSequence([UInt8](bytes))
        let tag = TLLVTag(rawValue: 0xaabb_ccdd_aabb_ccdd)
        #expect(payload.value(tag)?.hexString == "01234567")
        #expect(payload.raw(tag)?.hexString == bytes.hexString)
    }

    @Test func `the CKC key follows from R1 and the seed`() throws {
        let key = try [UInt8](0..<44).withUnsafeBytes {
            try ContentKeyContextKey.make(r1: $0, seed: [UInt8](0xa0...0xaf)[...], AESCBC())
        }
        #expect(key.read(0..<16) { $0.hexString } == "e5b4a95f759707bd9cbc5b53fc1fcb0d")
    }

    @Test func `the test derivation is HMAC-SHA-256 over its name and R2`() throws {
        let credential = try KeyServerCredential(
            certificate: SPCForge.small.credential.certificate, privateKey: SPCForge.small.privateKey,
            applicationSecret: Secret([UInt8](0..<16)))
        let key = try InsecureTestDerivation().derivedKey(r2: Secret([UInt8](100..<121)), for: credential)
        // Computed with Python's hmac module.
        #expect(key.revealed.hexString == "2110bb937276aef326436c68f22beeef")
    }

    private static let sessionBlock =
        "3d1a10b8bffac2ec0000007000000070cdfdd1b658e8f671010d42be671ef3e097cbf1992626f1e144d778c7f2fc3a7f"
        + "6859cec85ac81ff5ae27edfa17dbbc178b57b2281b27a19fa47cf2151757ddd5dbdf11ed7bf4a84920f308bbc503530b"
        + "774f8bda1406fb7f4d8166ecfc6a7b340e3e18d6ba42cd44e59e9561052121e5"
    private static let r1 =
        "810e309ffe133d6438d811a3198a387c4c181580f961ce3d1f7ee5dccc15cd30616fc87b7fb72bab6df1d4bc"
}
