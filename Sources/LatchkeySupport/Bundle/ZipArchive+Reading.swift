package import Foundation
package import LatchkeyCore

extension ZipArchive {
    /// Reads an archive.
    /// - Parameter data: the file.
    /// - Throws: a `Diagnosis` with `zipMalformed`; `zipTooLarge`; `zipPacked` for entries that are compressed or encrypted;
    ///   `zipNameRefused` for a name that leads out of its folder, occurs twice, or is not a plain name.
    package init(reading data: Data) throws(Diagnosis) {
        guard data.count <= Self.sizeLimit else { throw .zipTooLarge("It has \(data.count) bytes.") }
        let reader = ZipReader(Data(data))
        guard let end = reader.endOfDirectory else { throw .zipMalformed("It has no directory at its end.") }
        let count = Int(try reader.number(at: end + 10, as: UInt16.self))
        guard count <= Self.entryLimit else { throw .zipTooLarge("It has \(count) entries.") }
        var place = Int(try reader.number(at: end + 16, as: UInt32.self))
        var entries: [Entry] = []
        var names: Set<String> = []
        // Entries follow each other; one that begins inside another could expand little data to much.
        var next = 0
        for _ in 0..<count {
            let entry = try reader.entry(at: &place, after: &next)
            guard names.insert(entry.name).inserted else { throw .zipNameRefused("Two entries have the same name.") }
            entries.append(entry)
        }
        self.init(entries)
    }
}

/// Reads numbers and ranges of a file, and never beyond its end.
private struct ZipReader {
    private let data: Data

    init(_ data: Data) { self.data = data }

    /// The longest comment that may follow the directory's end.
    private static let commentLimit = 65_535
    private static let endLength = 22

    /// The start of the record that ends the directory.
    var endOfDirectory: Int? {
        let first = max(0, data.count - Self.endLength - Self.commentLimit)
        guard data.count >= Self.endLength else { return nil }
        return (first...(data.count - Self.endLength)).last { place in
            (try? number(at: place, as: UInt32.self)) == ZipSignature.end
                && (try? number(at: place + 20, as: UInt16.self)).map { place + Self.endLength + Int($0) } == data.count
        }
    }

    /// An entry of the directory with its data.
    /// - Parameters:
    ///   - place: its place; afterwards, the next one's.
    ///   - next: the earliest place where its data may begin; afterwards, where it ends.
    func entry(at place: inout Int, after next: inout Int) throws(Diagnosis) -> ZipArchive.Entry {
        guard try number(at: place, as: UInt32.self) == ZipSignature.directory else {
            throw .zipMalformed("The directory has something else at byte \(place).")
        }
        let (flags, method) = (
            try number(at: place + 8, as: UInt16.self), try number(at: place + 10, as: UInt16.self)
        )
        // Bit 11 says that names are UTF-8, which plain names are.
        guard method == 0, flags & ~0x0800 == 0 else { throw .zipPacked }
        let size = Int(try number(at: place + 24, as: UInt32.self))
        guard Int(try number(at: place + 20, as: UInt32.self)) == size else {
            throw .zipMalformed("An entry has two lengths.")
        }
        let lengths = [
            Int(try number(at: place + 28, as: UInt16.self)), Int(try number(at: place + 30, as: UInt16.self)),
            Int(try number(at: place + 32, as: UInt16.self)),
        ]
        let name = try Self.name(bytes(at: place + 46, count: lengths[0]))
        let contents = try contents(at: Int(try number(at: place + 42, as: UInt32.self)), size: size, after: &next)
        guard CRC32.checksum(contents) == (try number(at: place + 16, as: UInt32.self)) else {
            throw .zipMalformed("\(name) is damaged: its checksum is another.")
        }
        place += 46 + lengths.reduce(0, +)
        return ZipArchive.Entry(name, contents)
    }

    private func contents(at header: Int, size: Int, after next: inout Int) throws(Diagnosis) -> Data {
        guard header >= next, try number(at: header, as: UInt32.self) == ZipSignature.file else {
            throw .zipMalformed("The directory points to something else at byte \(header).")
        }
        let names = try number(at: header + 26, as: UInt16.self)
        let start = header + 30 + Int(names) + Int(try number(at: header + 28, as: UInt16.self))
        let contents = try bytes(at: start, count: size)
        next = start + size
        return contents
    }

    func number<Number: FixedWidthInteger>(at place: Int, as type: Number.Type) throws(Diagnosis) -> Number {
        let bytes = try bytes(at: place, count: MemoryLayout<Number>.size)
        return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    private func bytes(at place: Int, count: Int) throws(Diagnosis) -> Data {
        guard place >= 0, count >= 0, place <= data.count, count <= data.count - place else {
            throw .zipMalformed("It is cut off, or points beyond its end.")
        }
        return data.subdata(in: place..<place + count)
    }

    /// A name that stays below the folder into which it is unpacked, and that a terminal can show.
    private static func name(_ bytes: Data) throws(Diagnosis) -> String {
        let name = String(decoding: bytes, as: UTF8.self)
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = bytes.allSatisfy { byte in
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                || "/._-".utf8.contains(byte)
        }
        guard isPlain, (1...200).contains(bytes.count), !parts.contains(where: { $0.isEmpty || $0.hasPrefix(".") })
        else { throw .zipNameRefused("An entry's name is not a plain file name.") }
        return name
    }
}

extension Diagnosis {
    private static let remedy = "Give the file as `latchkey capture` or `supportBundle()` wrote it."

    fileprivate static func zipMalformed(_ reason: String) -> Self {
        Self(code: "zipMalformed", reason: "The ZIP archive cannot be read. \(reason)", remedy: remedy)
    }

    fileprivate static func zipTooLarge(_ reason: String) -> Self {
        Self(
            code: "zipTooLarge",
            reason:
                "The ZIP archive is too large: \(ZipArchive.sizeLimit >> 20) MiB and \(ZipArchive.entryLimit) entries are read. \(reason)",
            remedy: remedy)
    }

    fileprivate static let zipPacked = Self(
        code: "zipPacked",
        reason: "An entry of the ZIP archive is compressed or encrypted, and Latchkey's are neither.",
        remedy: "Give the file as it was written, or pack it again with `zip -0`.")

    fileprivate static func zipNameRefused(_ reason: String) -> Self {
        Self(code: "zipNameRefused", reason: "The ZIP archive is refused. \(reason)", remedy: remedy)
    }
}
