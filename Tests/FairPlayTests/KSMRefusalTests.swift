import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

/// Every class of malformed SPCs of `Documentation/FairPlay.md` §9 has its own code.
@Suite struct KSMRefusalTests {
    @Test(arguments: [1024, 2048])
    func `an SPC cut at any byte is a malformed container`(bits: Int) throws {
        let forge = SPCForge(bits == 1024 ? SPCForge.small : SPCForge.large)
        let spc = try forge.spc()
        for count in 0..<spc.count {
            #expect(refusal(spc.prefix(count), forge) == .malformedContainer, "\(count) bytes")
        }
    }

    @Test(arguments: [0, 1, 15, 17, 0xffff_fff0, 0xffff_ffff, 65_552] as [UInt32])
    func `a payload length that does not fit is a malformed container`(length: UInt32) throws {
        var spc = try SPCForge().spc()
        spc.replaceSubrange(172..<176, with: length.bigEndianBytes)
        #expect(refusal(spc, SPCForge()) == .malformedContainer)
    }

    @Test func `an oversized payload is a malformed container`() throws {
        var forge = SPCForge()
        forge.payload = [UInt8](repeating: 0, count: 65_552)
        #expect(try refusal(forge.spc(), forge) == .malformedContainer)
    }

    @Test(arguments: [0, 2, 3, 4, 0x0100_0000, 0x3082_0231, 0xffff_ffff] as [UInt32])
    func `an unknown version is unsupported`(version: UInt32) throws {
        var forge = SPCForge()
        forge.version = version
        #expect(try refusal(forge.spc(), forge) == .unsupportedVersion)
    }

    @Test(arguments: [
        (CertificateFixture.marked, "certificate"), (Array("{\"spc\":\"AAAA\"}".utf8), "JSON"),
        (Array("<html><body></body></html>".utf8), "HTML"), (Array("AAAAAQAAAACqqqqq".utf8), "base64"),
        (Array("spc=AAAAAQAAAACqqqqq&assetId=movie".utf8), "form"),
    ])
    func `a refusal names the non-SPC it was given`(bytes: [UInt8], what: String) throws {
        let refusal = #expect(throws: KSMRefusal.self) { try SPCForge().module.open(bytes) }
        #expect(refusal?.kind == .unsupportedVersion)
        #expect(refusal?.reason.contains(what) == true)
        #expect(refusal?.operatorNumber == -42580)
    }

    @Test func `an unknown certificate is refused before any RSA`() throws {
        var spc = try SPCForge().spc()
        spc[152] ^= 1
        // RSA cannot even decrypt it, but nothing gets that far.
        spc.replaceSubrange(24..<152, with: [UInt8](repeating: 0xff, count: 128))
        #expect(refusal(spc, SPCForge()) == .unknownCertificate)
    }

    @Test func `another test certificate's 2048-bit SPC is for an unknown certificate`() throws {
        let forge = SPCForge(SPCForge.large)
        #expect(try refusal(forge.spc(), SPCForge()) == .unknownCertificate)
    }

    @Test(arguments: [0, 15, 17, 32])
    func `a payload key of another length looks like any RSA failure`(count: Int) throws {
        var forge = SPCForge()
        forge.payloadKey = [UInt8](repeating: 1, count: count)
        let wrongLength = #expect(throws: KSMRefusal.self) { try forge.module.open(forge.spc()) }
        var spc = try SPCForge().spc()
        spc[100] ^= 1
        let wrongBytes = #expect(throws: KSMRefusal.self) { try forge.module.open(spc) }
        #expect(wrongLength?.kind == .rsaDecryptFailed)
        #expect(wrongLength == wrongBytes)
    }

    @Test(arguments: [
        // A block length that is not a multiple of 16, too large, or maximal; a value longer than its block; a truncated header.
        "00000000000000010000000f00000000", "00000000000000010000001000000000", "0000000000000001ffffffff00000000",
        "0000000000000001fffffff000000000", "00000000000000010000000000000001", "0000000000000001000000000000ffff",
    ])
    func `a block that breaks its bounds is malformed`(header: String) throws {
        var forge = SPCForge()
        forge.payload = forge.plaintext() + (try #require(Data(hexString: header)))
        #expect(try refusal(forge.spc(), forge) == .malformedTLLV)
    }

    @Test func `more blocks than the limit are malformed`() throws {
        var forge = SPCForge()
        forge.blocks += (0..<256).map { (TLLVTag(rawValue: $0), []) }
        #expect(try refusal(forge.spc(), forge) == .malformedTLLV)
    }

    @Test func `random payloads never get through`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var forge = SPCForge()
            forge.payload = generator.bytes(16 * .random(in: 1...40, using: &generator))
            #expect(try refusal(forge.spc(), forge) == .malformedTLLV)
        }
    }

    @Test(arguments: needed)
    func `a missing required block has its code`(tag: TLLVTag) throws {
        var forge = SPCForge()
        forge[.returnRequest] = []
        forge[tag] = nil
        #expect(try refusal(forge.spc(), forge) == .missingTag)
    }

    @Test(arguments: needed + [.mediaPlaybackState, .capabilities, .streamingIndicator, TLLVTag(rawValue: 0xfeed)])
    func `a repeated block has its code`(tag: TLLVTag) throws {
        var forge = SPCForge()
        forge.blocks.append((tag, forge[tag] ?? []))
        #expect(try refusal(forge.spc(), forge) == .duplicateTag)
    }

    @Test(arguments: lengths)
    func `a value of a wrong length has its code`(tag: TLLVTag, length: Int) throws {
        var forge = SPCForge()
        forge[tag] = [UInt8](repeating: 1, count: length)
        #expect(try refusal(forge.spc(), forge) == .badLength)
    }

    @Test func `a missing requested block has its code`() throws {
        var forge = SPCForge()
        forge[TLLVTag(rawValue: 0xfeed)] = nil
        #expect(try refusal(forge.spc(), forge) == .returnTagMissing)
    }

    @Test func `a request for a block of every CKC is refused as a duplicate`() throws {
        var forge = SPCForge()
        forge.blocks.append((.r1, SPCForge.r1))
        forge[.returnRequest] = TLLVTag.r1.rawValue.bigEndianBytes
        #expect(try refusal(forge.spc(), forge) == .duplicateTag)
    }

    @Test(arguments: [([1], 2), ([2], 2), ([2], 1), ([1, 2], 0)] as [([UInt32], UInt32)])
    func `a protocol version that either side does not speak has its code`(listed: [UInt32], used: UInt32) throws {
        var forge = SPCForge()
        forge[.protocolVersionsSupported] = listed.flatMap(\.bigEndianBytes)
        forge[.protocolVersionUsed] = used.bigEndianBytes
        #expect(try refusal(forge.spc(), forge) == .protocolVersion)
    }

    @Test(arguments: 0..<16)
    func `one flipped integrity byte is found`(position: Int) throws {
        var forge = SPCForge()
        forge[.integrity]?[position] ^= 0x80
        #expect(try refusal(forge.spc(), forge) == .integrity)
    }

    @Test(arguments: [1, 15, 16, 32])
    func `bytes after the payload are a malformed container`(count: Int) throws {
        let forge = SPCForge()
        let spc = try forge.spc()
        let refusal = #expect(throws: KSMRefusal.self) {
            try forge.module.open(spc + [UInt8](repeating: 0, count: count))
        }
        #expect(refusal?.kind == .malformedContainer)
        #expect(refusal?.reason.contains("\(count) bytes follow its payload") == true)
    }

    /// The payload has no checksum: a flipped bit may change a block that is not compared.
    @Test func `a flipped bit anywhere in the container or the payload key is refused`() throws {
        let forge = SPCForge()
        let spc = try forge.spc()
        for position in spc.indices {
            var flipped = spc
            flipped[position] ^= 0x10
            let isChecked = position < 4 || (24..<176).contains(position)
            #expect(refusal(flipped, forge) != nil || !isChecked, "byte \(position)")
        }
    }

    private static let needed: [TLLVTag] = [
        .sessionKeyAndR1, .integrity, .antiReplaySeed, .r2, .returnRequest, .assetID, .transactionID,
        .protocolVersionsSupported, .protocolVersionUsed,
    ]

    private static let lengths: [(TLLVTag, Int)] = [
        (.sessionKeyAndR1, 0), (.sessionKeyAndR1, 111), (.sessionKeyAndR1, 128), (.integrity, 15), (.integrity, 17),
        (.antiReplaySeed, 0), (.antiReplaySeed, 32), (.r2, 20), (.r2, 22), (.assetID, 0), (.assetID, 1),
        (.assetID, 201),
        (.transactionID, 7), (.transactionID, 9), (.returnRequest, 7), (.returnRequest, 2056),
        (.protocolVersionsSupported, 0), (.protocolVersionsSupported, 6), (.protocolVersionUsed, 0),
        (.protocolVersionUsed, 8), (.streamingIndicator, 4), (.mediaPlaybackState, 15), (.capabilities, 0),
    ]

    private func refusal(_ spc: some Collection<UInt8>, _ forge: SPCForge) -> KSMRefusal.Kind? {
        do throws(KSMRefusal) {
            _ = try forge.module.open(spc)
            return nil
        } catch {
            return error.kind
        }
    }
}
