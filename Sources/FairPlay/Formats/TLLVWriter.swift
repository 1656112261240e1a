/// Collects blocks and writes them in random order with random padding.
///
/// Source: `fps-protocol.md` §3, writing.
package struct TLLVWriter {
    private var entries: [Entry] = []
    private var bytes: [UInt8] = []

    /// A block to be written: its value in `bytes`, or the whole block where the tag is nil.
    private struct Entry {
        let tag: TLLVTag?
        let range: Range<Int>
    }

    /// Makes a writer without blocks.
    package init() {
        entries.reserveCapacity(16)
        bytes.reserveCapacity(512)
    }

    /// Adds a block by its value.
    package mutating func add(_ tag: TLLVTag, _ value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: value)
        entries.append(Entry(tag: tag, range: start..<bytes.count))
    }

    /// Adds a block as it stood elsewhere, header and padding included.
    package mutating func add(verbatim block: ArraySlice<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: block)
        entries.append(Entry(tag: nil, range: start..<bytes.count))
    }

    /// Appends all blocks, each padded to 16 bytes and then by none or one block of 16.
    package mutating func write(to output: inout [UInt8], using random: inout some RandomNumberGenerator) {
        entries.shuffle(using: &random)
        for entry in entries { write(entry, to: &output, using: &random) }
        erase(&bytes)
    }

    private func write(_ entry: Entry, to output: inout [UInt8], using random: inout some RandomNumberGenerator) {
        if let tag = entry.tag {
            let draw = random.next()
            let fill = (16 - entry.range.count % 16) % 16
            let padding = fill + (draw & 1 == 0 ? 0 : 16)
            output.append(bigEndian: tag.rawValue)
            output.append(bigEndian: UInt32(truncatingIfNeeded: entry.range.count + padding))
            output.append(bigEndian: UInt32(truncatingIfNeeded: entry.range.count))
            output.append(contentsOf: bytes[entry.range])
            random.append(padding, to: &output)
        } else {
            output.append(contentsOf: bytes[entry.range])
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
