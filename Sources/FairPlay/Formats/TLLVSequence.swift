/// One block of an SPC's or a CKC's payload: where it is, and how long.
///
/// 8 bytes of tag, 4 of block length, 4 of value length, the value, padding.
///
/// Source: `fps-protocol.md` §3.
public struct TLLVBlock: Sendable, Hashable {
    /// What the block is.
    public let tag: TLLVTag
    /// Where its 16-byte header begins in the payload.
    public let offset: Int
    /// How many bytes follow the header: the value and its padding. A multiple of 16.
    public let blockLength: Int
    /// How many of these are the value.
    public let valueLength: Int

    /// Where the value is in the payload.
    public var valueRange: Range<Int> { offset + 16..<offset + 16 + valueLength }
    /// Where the whole block is in the payload, header and padding included.
    public var range: Range<Int> { offset..<offset + 16 + blockLength }
}

/// A payload and its blocks: gap-free, in any order, each tag once.
///
/// Source: `fps-protocol.md` §3 and §8 step 7.
public struct TLLVSequence: Sendable {
    /// The decrypted payload.
    public let bytes: [UInt8]
    /// The blocks in the order in which they stand.
    public let blocks: [TLLVBlock]

    /// The most blocks that a payload may have; real ones have 4 to 36.
    public static let maximumBlockCount = 256

    /// Finds the blocks of a payload.
    /// - Throws: a `TLLVError` at the first block that breaks a rule.
    public init(_ bytes: [UInt8]) throws(TLLVError) {
        var reader = ByteReader(bytes)
        var blocks: [TLLVBlock] = []
        blocks.reserveCapacity(40)
        while reader.remaining > 0 {
            let block = try Self.block(&reader)
            guard blocks.count < Self.maximumBlockCount else {
                throw TLLVError(kind: .malformed, offset: block.offset, what: "there are more than 256 blocks")
            }
            // A linear search: for a usual payload faster than a set, and the number of blocks is bounded.
            if blocks.contains(where: { $0.tag == block.tag }) {
                throw TLLVError(kind: .duplicate, offset: block.offset, what: "tag \(block.tag) occurs a second time")
            }
            blocks.append(block)
        }
        self.bytes = bytes
        self.blocks = blocks
    }

    /// The block with a tag; nil without one.
    public subscript(tag: TLLVTag) -> TLLVBlock? { blocks.first { $0.tag == tag } }

    /// The value of the block with a tag; nil without one.
    public func value(_ tag: TLLVTag) -> ArraySlice<UInt8>? { self[tag].map { bytes[$0.valueRange] } }

    /// The whole block with a tag, header and padding included; nil without one.
    public func raw(_ tag: TLLVTag) -> ArraySlice<UInt8>? { self[tag].map { bytes[$0.range] } }

    private static func block(_ reader: inout ByteReader) throws(TLLVError) -> TLLVBlock {
        let offset = reader.offset
        do throws(EndOfBytes) {
            let tag = TLLVTag(rawValue: try reader.uint64())
            let blockLength = Int(try reader.uint32())
            let valueLength = Int(try reader.uint32())
            guard blockLength % 16 == 0, valueLength <= blockLength else {
                throw EndOfBytes(offset: offset, wanted: valueLength, found: blockLength)
            }
            _ = try reader.take(blockLength)
            return TLLVBlock(tag: tag, offset: offset, blockLength: blockLength, valueLength: valueLength)
        } catch {
            let isHeader = error.offset == offset
            let what =
                isHeader
                ? "a block states \(error.found) bytes with a value of \(error.wanted)"
                : "a block wants \(error.wanted) bytes where \(error.found) are left"
            throw TLLVError(kind: .malformed, offset: offset, what: what)
        }
    }
}
