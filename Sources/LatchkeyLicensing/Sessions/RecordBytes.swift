import Foundation
import LatchkeyCore

/// Writes values one behind the other, as `RecordReader` reads them: numbers in groups of 7 bits, the lowest first; texts behind
/// their length.
struct RecordWriter {
    private(set) var bytes: [UInt8]

    /// - Parameter version: the form's version, the first byte.
    init(version: UInt8) {
        bytes = []
        // Enough for an account with a few slots.
        bytes.reserveCapacity(256)
        bytes.append(version)
    }

    mutating func write(_ number: UInt64) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    /// In milliseconds since 1970; an earlier date is 1970.
    mutating func write(_ date: Date) { write(UInt64(saturating: (date.timeIntervalSince1970 * 1_000).rounded())) }

    mutating func write<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
        self.write(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }

    mutating func write<Value>(each values: [Value], _ write: (inout Self, Value) -> Void) {
        self.write(UInt64(values.count))
        for value in values { write(&self, value) }
    }
}

/// Reads what `RecordWriter` wrote, and never beyond the end.
struct RecordReader {
    private let bytes: [UInt8]
    private var position: Int

    /// - Parameter position: where to begin, at most the number of bytes.
    init(_ bytes: [UInt8], from position: Int = 0) { (self.bytes, self.position) = (bytes, position) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(RecordDamage) -> UInt8 {
        guard position < bytes.count else { throw RecordDamage() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(RecordDamage) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64 {
            let byte = try byte()
            let group = UInt64(byte & 0x7f)
            guard (group << shift) >> shift == group else { throw RecordDamage() }
            number |= group << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        throw RecordDamage()
    }

    mutating func text() throws(RecordDamage) -> String {
        let count = try count()
        defer { position += count }
        guard let text = String(utf8: bytes[position..<position + count]) else { throw RecordDamage() }
        return text
    }

    mutating func skipText() throws(RecordDamage) { position += try count() }

    mutating func date() throws(RecordDamage) -> Date { Date(timeIntervalSince1970: Double(try number()) / 1_000) }

    mutating func optional<Value>(
        _ read: (inout Self) throws(RecordDamage) -> Value
    ) throws(RecordDamage) -> Value? {
        try number() == 0 ? nil : try read(&self)
    }

    mutating func each<Value>(_ read: (inout Self) throws(RecordDamage) -> Value) throws(RecordDamage) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count()) { values.append(try read(&self)) }
        return values
    }

    /// A number of things of a byte or more each.
    mutating func count() throws(RecordDamage) -> Int {
        let number = try number()
        guard number <= UInt64(bytes.count - position) else { throw RecordDamage() }
        return Int(number)
    }
}

/// Bytes that are no record.
struct RecordDamage: Error {}
