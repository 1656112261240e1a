import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite struct TLLVSequenceTests {
    @Test func `blocks of every length are read back as written`() throws {
        var generator = SeededGenerator(seed: 11)
        let values = (0..<64).map { (TLLVTag(rawValue: UInt64($0 + 1)), generator.bytes($0)) }
        var writer = TLLVWriter()
        for (tag, value) in values { writer.add(tag, value) }
        var bytes: [UInt8] = []
        writer.write(to: &bytes, using: &generator)
        let read = try TLLVSequence(bytes)
        #expect(read.blocks.count == 64)
        for (tag, value) in values { #expect(read.value(tag).map { Array($0) } == value) }
    }

    @Test func `no bytes, no blocks`() throws { #expect(try TLLVSequence([]).blocks.isEmpty) }

    @Test func `a missing tag has no value`() throws {
        let payload = try TLLVSequence(SPCForge.block(.r2, [1]))
        #expect(payload.value(.r1) == nil)
        #expect(payload.raw(.r1) == nil)
    }

    @Test func `a payload cut inside a block is malformed`() throws {
        let whole = SPCForge.block(.r2, SPCForge.r2)
        for count in 1..<whole.count {
            let error = #expect(throws: FormatError.self) { try TLLVSequence(Array(whole.prefix(count))) }
            #expect(error?.kind == .malformed)
            #expect(error?.reason.contains("a block needs") == true)
        }
    }

    @Test func `an error says where`() throws {
        let bytes = SPCForge.block(.r2, SPCForge.r2) + SPCForge.block(.r1, []) + SPCForge.block(.r2, [])
        let error = #expect(throws: FormatError.self) { try TLLVSequence(bytes) }
        #expect(error?.kind == .duplicate)
        #expect(error?.offset == 64)
        #expect(error?.reason.contains("71b5595ac1521133 (R2)") == true)
    }

    @Test(arguments: [1, 8, 15, 17, 24, 33])
    func `a block length not divisible by 16 is malformed`(length: Int) {
        let block = header(length: length, valueLength: length) + [UInt8](repeating: 7, count: length)
        let error = #expect(throws: FormatError.self) { try TLLVSequence(block + SPCForge.block(.r1, [])) }
        #expect(error?.kind == .malformed)
        #expect(error?.offset == 0)
    }

    @Test(arguments: [(0, 1), (16, 17), (16, 0xffff_ffff)])
    func `a value longer than its block is malformed`(length: Int, valueLength: Int) {
        let block = header(length: length, valueLength: valueLength) + [UInt8](repeating: 7, count: length)
        let error = #expect(throws: FormatError.self) { try TLLVSequence(block + SPCForge.block(.r1, [1, 2, 3])) }
        #expect(error?.kind == .malformed)
        #expect(error?.reason.contains("states \(length) bytes with a value of \(valueLength)") == true)
    }

    @Test func `random bytes are refused or are contiguous blocks`() throws {
        var generator = SeededGenerator(seed: 12)
        var read = 0
        for _ in 0..<2_000 {
            var bytes = generator.bytes(.random(in: 0...200, using: &generator))
            // Lengths of 0 or 16, so that some blocks are valid.
            for position in bytes.indices where position % 16 > 7 {
                bytes[position] = position % 16 == 11 ? bytes[position] & 16 : 0
            }
            guard let payload = try? TLLVSequence(bytes) else { continue }
            read += payload.blocks.isEmpty ? 0 : 1
            var end = 0
            for block in payload.blocks {
                #expect(block.range.lowerBound == end && block.valueRange.upperBound <= block.range.upperBound)
                end = block.range.upperBound
            }
            #expect(end == bytes.count)
        }
        #expect(read > 20)
    }

    private func header(length: Int, valueLength: Int) -> [UInt8] {
        TLLVTag.r2.rawValue.bigEndianBytes + UInt32(length).bigEndianBytes + UInt32(valueLength).bigEndianBytes
    }
}

@Suite struct CKCContainerTests {
    @Test func `a CKC cut at any byte or longer is refused`() throws {
        let ckc = try MadeCKC(SPCForge(), LicenseTerms()).bytes
        for count in 0..<ckc.count {
            #expect(throws: FormatError.self) { try CKCContainer(Array(ckc.prefix(count))) }
        }
        #expect(throws: FormatError.self) { try CKCContainer(ckc + [0]) }
    }

    @Test(arguments: [
        ("{\"ckc\":\"AAAA\"}", "JSON"), ("<ckc>AAAA</ckc>", "HTML or XML"), ("AAAAAQAAAACqqqqq", "base64 text"),
        ("", "an empty reply"), ("-----BEGIN CERTIFICATE-----", "PEM text"), ("\u{1}\u{2}\u{3}", nil),
    ])
    func `bytes that are not a CKC are named`(text: String, apparentFormat: String?) {
        let error = #expect(throws: FormatError.self) { try CKCContainer(Array(text.utf8)) }
        #expect(error?.apparentFormat == apparentFormat)
        #expect(error?.code == "notACKC")
    }
}
