/// Collects blocks and writes them in random order with random padding, as clients expect. Write once.
///
/// Values may be keys. They are copied into one buffer, which `write(to:using:)` erases.
///
/// Source: `Documentation/FairPlay.md` §3, writing.
package struct TLLVWriter {
    private var pending: [PendingBlock] = []
    private var bytes: [UInt8] = []

    /// A block to write. `range` covers its value, or the whole block if the tag is `nil`.
    private struct PendingBlock {
        let tag: TLLVTag?
        let range: Range<Int>
    }

    /// Creates an empty writer.
    package init() {
        pending.reserveCapacity(16)
        bytes.reserveCapacity(512)
    }

    /// Adds a block with a value.
    package mutating func add(_ tag: TLLVTag, _ value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: value)
        pending.append(PendingBlock(tag: tag, range: start..<bytes.count))
    }

    /// Adds a block from another payload unchanged, including header and padding.
    package mutating func add(verbatim block: ArraySlice<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: block)
        pending.append(PendingBlock(tag: nil, range: start..<bytes.count))
    }

    /// Appends all blocks. Each is padded to a multiple of 16 bytes, and then by 0 or 16 bytes at random.
    package mutating func write(to output: inout [UInt8], using random: inout some RandomNumberGenerator) {
        pending.shuffle(using: &random)
        for block in pending { write(block, to: &output, using: &random) }
        erase(&bytes)
    }

    private func write(_ block: PendingBlock, to output: inout [UInt8], using random: inout some RandomNumberGenerator)
    {
        if let tag = block.tag {
            let draw = random.next()
            let fill = (16 - block.range.count % 16) % 16
            let padding = fill + (draw & 1 == 0 ? 0 : 16)
            output.append(bigEndian: tag.rawValue)
            output.append(bigEndian: UInt32(truncatingIfNeeded: block.range.count + padding))
            output.append(bigEndian: UInt32(truncatingIfNeeded: block.range.count))
            output.append(contentsOf: bytes[block.range])
            random.append(padding, to: &output)
        } else {
            output.append(contentsOf: bytes[block.range])
        }
    }
}

extension RandomNumberGenerator {
    /// Appends random bytes.
    package mutating func append(_ count: Int, to output: inout [UInt8]) {
        var rest = count
        while rest > 0 {
            withUnsafeBytes(of: next()) { output.append(contentsOf: $0.prefix(rest)) }
            rest -= 8
        }
    }
}
