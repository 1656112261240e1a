/// The position of one block in the payload of an SPC or a CKC.
///
///      offset  0     8       12       16             16+v          16+L
///             +-----+-------+--------+--------------+-------------+
///             | tag | L     | v      | value        | padding     |
///             | 8   | 4     | 4      | v            | L − v       |
///             +-----+-------+--------+--------------+-------------+
///
/// *L* is a multiple of 16 and at least *v*.
///
/// Source: `Documentation/FairPlay.md` §3.
package struct TLLVBlock: Sendable, Hashable {
    /// The tag.
    package let tag: TLLVTag
    /// The offset of its 16-byte header in the payload.
    package let offset: Int
    /// The number of bytes after the header: the value and its padding. A multiple of 16.
    package let blockLength: Int
    /// The length of the value in bytes.
    package let valueLength: Int

    /// The range of the value in the payload.
    package var valueRange: Range<Int> { offset + 16..<offset + 16 + valueLength }
    /// The range of the whole block in the payload, including header and padding.
    package var range: Range<Int> { offset..<offset + 16 + blockLength }
}

/// A payload and its blocks, in any order and without gaps. Each tag occurs once.
///
/// A value of this type is proof that every range is inside the payload. The device chooses order, padding and unknown tags,
/// so keep the raw bytes: a CKC returns blocks byte for byte.
///
/// Source: `Documentation/FairPlay.md` §3 and §8 step 7.
package struct TLLVSequence: Sendable {
    /// The decrypted payload.
    package let bytes: [UInt8]
    /// The blocks in the order of the payload.
    package let blocks: [TLLVBlock]

    /// The maximum number of blocks in a payload. Real ones have 4 to 36.
    package static let maximumBlockCount = 256

    /// Parses a payload.
    /// - Throws: a `FormatError` for the first block that breaks a rule.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        var blocks: [TLLVBlock] = []
        blocks.reserveCapacity(40)
        while reader.remaining > 0 {
            let block = try Self.block(&reader)
            guard blocks.count < Self.maximumBlockCount else {
                throw FormatError(kind: .malformed, offset: block.offset, what: "there are more than 256 blocks")
            }
            // A linear search is faster than a set for typical payloads, and the number of blocks is limited.
            if blocks.contains(where: { $0.tag == block.tag }) {
                throw FormatError(kind: .duplicate, offset: block.offset, what: "tag \(block.tag) occurs a second time")
            }
            blocks.append(block)
        }
        self.bytes = bytes
        self.blocks = blocks
    }

    /// The block with a tag; `nil` if absent.
    package subscript(tag: TLLVTag) -> TLLVBlock? { blocks.first { $0.tag == tag } }

    /// The value of the block with a tag; `nil` if absent.
    package func value(_ tag: TLLVTag) -> ArraySlice<UInt8>? { self[tag].map { bytes[$0.valueRange] } }

    /// The whole block with a tag, including header and padding; `nil` if absent.
    package func raw(_ tag: TLLVTag) -> ArraySlice<UInt8>? { self[tag].map { bytes[$0.range] } }

    private static func block(_ reader: inout ByteReader) throws(FormatError) -> TLLVBlock {
        let offset = reader.offset
        func malformed(_ what: String) -> FormatError { FormatError(kind: .malformed, offset: offset, what: what) }
        if let tag = reader.uint64(), let blockLength = reader.uint32(), let valueLength = reader.uint32() {
            guard blockLength % 16 == 0, valueLength <= blockLength else {
                throw malformed("a block states \(blockLength) bytes with a value of \(valueLength)")
            }
            if reader.take(Int(blockLength)) != nil {
                return TLLVBlock(
                    tag: TLLVTag(rawValue: tag), offset: offset, blockLength: Int(blockLength),
                    valueLength: Int(valueLength))
            }
        }
        throw malformed("a block needs \(reader.wanted) bytes, and \(reader.remaining) are left")
    }
}
