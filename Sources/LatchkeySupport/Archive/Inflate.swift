import Foundation
import LatchkeyCore

/// Undoes gzip and zlib, in which recorders keep captures: `.har.gz`, `.zhar`.
///
/// Source: RFC 1950, RFC 1951, RFC 1952. Checksums are not compared: JSON that was damaged does not parse.
struct Inflate {
    private let bytes: [UInt8]
    private let limit: Int
    private var place: Int
    /// Bits that were read and not used yet, the next one lowest, and how many.
    private var (held, count): (UInt32, Int) = (0, 0)
    private var out: [UInt8] = []

    /// What is wrong with the compressed data.
    private enum Failure: Error { case damaged, tooLarge }

    /// - Returns: `nil` for data that is not compressed.
    /// - Throws: a `Diagnosis` if the data breaks off, is damaged, or has more than `limit` bytes.
    static func unpacked(_ data: Data, limit: Int) throws(Diagnosis) -> Data? {
        let bytes = [UInt8](data)
        guard let start = start(of: bytes) else { return nil }
        var inflate = Inflate(bytes: bytes, limit: limit, place: start)
        do {
            try inflate.run()
        } catch {
            throw Diagnosis(
                code: "captureMalformed",
                reason: error == .tooLarge
                    ? "The capture has more than \(limit >> 20) MiB when it is unpacked."
                    : "The compressed capture is damaged or breaks off.",
                remedy: error == .tooLarge
                    ? "Record the playback alone, without other traffic." : "Copy the whole file again, as bytes.")
        }
        return Data(inflate.out)
    }

    private init(bytes: [UInt8], limit: Int, place: Int) {
        (self.bytes, self.limit, self.place) = (bytes, limit, place)
    }

    /// Where the deflated data begin behind the header of gzip or zlib; `nil` if there is none.
    private static func start(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 6 else { return nil }
        if bytes[0] == 0x78, (0x7800 | Int(bytes[1])) % 31 == 0 { return bytes[1] & 0x20 == 0 ? 2 : nil }
        guard bytes.starts(with: [0x1f, 0x8b, 8]), bytes.count >= 18 else { return nil }
        let flags = bytes[3]
        var place = 10
        if flags & 4 != 0 { place += 2 + Int(bytes[10]) + Int(bytes[11]) << 8 }
        for flag: UInt8 in [8, 16] where flags & flag != 0 && place < bytes.count {
            place = (bytes[place...].firstIndex(of: 0) ?? bytes.endIndex) + 1
        }
        return place + (flags & 2 == 0 ? 0 : 2)
    }

    private mutating func run() throws(Failure) {
        var isLast = false
        while !isLast {
            isLast = try bits(1) == 1
            switch try bits(2) {
            case 0: try copyStored()
            case 1: try copy(Self.fixedLiterals, Self.fixedDistances)
            case 2:
                let (literals, distances) = try tables()
                try copy(literals, distances)
            default: throw .damaged
            }
        }
    }

    private mutating func bits(_ number: Int) throws(Failure) -> Int {
        while count < number {
            guard place < bytes.count else { throw .damaged }
            held |= UInt32(bytes[place]) << UInt32(count)
            (place, count) = (place + 1, count + 8)
        }
        let value = held & (1 << UInt32(number) - 1)
        (held, count) = (held >> UInt32(number), count - number)
        return Int(value)
    }

    private mutating func copyStored() throws(Failure) {
        (held, count) = (0, 0)
        guard place + 4 <= bytes.count else { throw .damaged }
        let length = Int(bytes[place]) | Int(bytes[place + 1]) << 8
        place += 4
        guard place + length <= bytes.count else { throw .damaged }
        guard out.count + length <= limit else { throw .tooLarge }
        out += bytes[place..<place + length]
        place += length
    }

    /// A Huffman code: how many symbols each length has, and the symbols in order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int]

        init(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            symbols = (1..<16).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
        }
    }

    private static let fixedLiterals = Code(
        (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Code([Int](repeating: 5, count: 30))

    private mutating func symbol(_ code: Code) throws(Failure) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1..<16 {
            value |= try bits(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw .damaged
    }

    private mutating func tables() throws(Failure) -> (Code, Code) {
        let (literals, distances, codes) = (try bits(5) + 257, try bits(5) + 1, try bits(4) + 4)
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        var lengths = [Int](repeating: 0, count: 19)
        for place in order.prefix(codes) { lengths[place] = try bits(3) }
        let code = Code(lengths)
        lengths = []
        while lengths.count < literals + distances {
            switch try symbol(code) {
            case 16:
                guard let last = lengths.last else { throw .damaged }
                lengths += repeatElement(last, count: try bits(2) + 3)
            case 17: lengths += repeatElement(0, count: try bits(3) + 3)
            case 18: lengths += repeatElement(0, count: try bits(7) + 11)
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == literals + distances else { throw .damaged }
        return (Code(Array(lengths[..<literals])), Code(Array(lengths[literals...])))
    }

    private mutating func copy(_ literals: Code, _ distances: Code) throws(Failure) {
        while true {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            guard symbol > 256 else {
                guard out.count < limit else { throw .tooLarge }
                out.append(UInt8(symbol))
                continue
            }
            let length = try number(symbol - 257, bases: Self.lengths)
            let distance = try number(try self.symbol(distances), bases: Self.distances)
            guard distance <= out.count else { throw .damaged }
            guard out.count + length <= limit else { throw .tooLarge }
            for _ in 0..<length { out.append(out[out.count - distance]) }
        }
    }

    private mutating func number(_ index: Int, bases: [(base: Int, extra: Int)]) throws(Failure) -> Int {
        guard bases.indices.contains(index) else { throw .damaged }
        return bases[index].base + (try bits(bases[index].extra))
    }

    private static let lengths = bases(from: 3, step: 4, count: 28) + [(258, 0)]
    private static let distances = bases(from: 1, step: 2, count: 30)

    /// Each base is behind the values of the one before it; from the second group of `step` on, each group has one more bit.
    private static func bases(from first: Int, step: Int, count: Int) -> [(base: Int, extra: Int)] {
        var next = first
        return (0..<count).map { index in
            let extra = max(0, index / step - 1)
            defer { next += 1 << extra }
            return (next, extra)
        }
    }
}
