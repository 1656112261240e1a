import Foundation
import LatchkeyCore
import LatchkeySystem

/// Writes values one after another, as `RecordReader` reads them: numbers in groups of 7 bits, the lowest first; texts after their length.
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

/// Reads the output of `RecordWriter`, and never beyond the end.
struct RecordReader {
    private let bytes: [UInt8]
    private var position: Int
    private let what: String
    private let engine: String

    /// - Parameters:
    ///   - position: where to begin, at most the number of bytes.
    ///   - what: its description, for an error.
    ///   - engine: where it comes from, for an error.
    init(_ bytes: [UInt8], from position: Int = 0, _ what: String = "A record", engine: String = "") {
        (self.bytes, self.position, self.what, self.engine) = (bytes, position, what, engine)
    }

    /// The error for a malformed record.
    var damage: StoreError { StoreError(.damaged, engine, reason: "\(what) is malformed.") }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(StoreError) -> UInt8 {
        guard position < bytes.count else { throw damage }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(StoreError) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while shift < 64 {
            let byte = try byte()
            let group = UInt64(byte & 0x7f)
            guard (group << shift) >> shift == group else { throw damage }
            number |= group << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        throw damage
    }

    mutating func text() throws(StoreError) -> String {
        let count = try count()
        defer { position += count }
        guard let text = String(utf8: bytes[position..<position + count]) else { throw damage }
        return text
    }

    mutating func skipText() throws(StoreError) { position += try count() }

    mutating func date() throws(StoreError) -> Date { Date(timeIntervalSince1970: Double(try number()) / 1_000) }

    mutating func optional<Value>(
        _ read: (inout Self) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        try number() == 0 ? nil : try read(&self)
    }

    mutating func each<Value>(_ read: (inout Self) throws(StoreError) -> Value) throws(StoreError) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count()) { values.append(try read(&self)) }
        return values
    }

    /// A number of things of a byte or more each.
    mutating func count() throws(StoreError) -> Int {
        let number = try number()
        guard number <= UInt64(bytes.count - position) else { throw damage }
        return Int(number)
    }
}
