package import Foundation

/// Several files in one that any tool can open: a ZIP archive whose entries are stored uncompressed.
///
/// Equal entries make equal bytes, whenever they are written. Untrusted archives have limits, are read within their bounds, and cannot
/// expand beyond their own size, as nothing in them is compressed.
///
/// Source: PKWARE APPNOTE.TXT 6.3.10, §4.3.7, §4.3.12 and §4.3.16.
package struct ZipArchive: Sendable, Hashable {
    /// A file in the archive.
    package struct Entry: Sendable, Hashable {
        /// Letters, digits, `.`, `-` and `_`, in folders separated by `/`.
        package let name: String
        package let data: Data

        package init(_ name: String, _ data: Data) { (self.name, self.data) = (name, data) }
    }

    /// The files in their order.
    package let entries: [Entry]

    /// The maximum number of entries in an archive.
    package static let entryLimit = 1_000
    /// The maximum size of an archive: 64 MiB.
    package static let sizeLimit = 64 << 20

    /// - Parameter entries: the files, with distinct names; at most `entryLimit`, the others are left out.
    package init(_ entries: [Entry]) { self.entries = Array(entries.prefix(Self.entryLimit)) }

    /// The data of the file with a name.
    package subscript(_ name: String) -> Data? { entries.first { $0.name == name }?.data }
}

// MARK: - Writing

extension ZipArchive {
    /// The archive as a file.
    package var data: Data {
        var (file, directory) = (Data(), Data())
        for entry in entries {
            let (facts, offset) = (Self.facts(of: entry), UInt32(clamping: file.count))
            file.append(littleEndian: ZipSignature.file)
            file += facts
            file += Data(entry.name.utf8) + entry.data
            directory.append(littleEndian: ZipSignature.directory)
            directory.append(littleEndian: 20 as UInt16)
            // No comment, disk 0, no attributes.
            directory += facts + Data(count: 10)
            directory.append(littleEndian: offset)
            directory += Data(entry.name.utf8)
        }
        let start = UInt32(clamping: file.count)
        file += directory
        file.append(littleEndian: ZipSignature.end)
        file += Data(count: 4)
        file.append(littleEndian: UInt16(clamping: entries.count))
        file.append(littleEndian: UInt16(clamping: entries.count))
        file.append(littleEndian: UInt32(clamping: directory.count))
        file.append(littleEndian: start)
        return file + Data(count: 2)
    }

    /// The fields that both a file's header and its directory entry contain.
    private static func facts(of entry: Entry) -> Data {
        var facts = Data()
        facts.append(littleEndian: 20 as UInt16)
        // Not encrypted, not compressed, on the first day of the format, so that equal files are equal bytes.
        facts += Data(count: 6)
        facts.append(littleEndian: 0x21 as UInt16)
        facts.append(littleEndian: CRC32.checksum(entry.data))
        facts.append(littleEndian: UInt32(clamping: entry.data.count))
        facts.append(littleEndian: UInt32(clamping: entry.data.count))
        facts.append(littleEndian: UInt16(clamping: entry.name.utf8.count))
        return facts + Data(count: 2)
    }
}

enum ZipSignature {
    static let file: UInt32 = 0x0403_4b50
    static let directory: UInt32 = 0x0201_4b50
    static let end: UInt32 = 0x0605_4b50
}

extension Data {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// The checksum of ZIP and PNG. Source: ISO 3309, as RFC 1952 §8 has it.
package enum CRC32 {
    private static let table = (0..<256 as Range<UInt32>).map { byte in
        (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }

    package static func checksum(_ data: Data) -> UInt32 {
        ~data.reduce(UInt32.max) { table[Int(truncatingIfNeeded: ($0 ^ UInt32($1)) & 0xff)] ^ ($0 >> 8) }
    }
}
