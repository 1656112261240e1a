import Foundation
import LatchkeyCore

/// Reads external JSON: strictly, in linear time, and only up to its limits.
///
/// Strictly means: no duplicate member, no lone surrogate, no number beyond the range of `Double`.
///
/// Source: RFC 8259; RFC 7493 §2.3 for duplicate members.
package struct JSONReader {
    /// The usual limit of nested arrays and objects: 32.
    package static let depth = 32
    /// The limit of all values, members and elements: 10,000.
    package static let values = 10_000

    /// The number of members for which space is reserved.
    private static let usualMembers = 6

    private let bytes: [UInt8]
    private let depth: Int
    private var index = 0
    private var count = 0
    private var text: [UInt8] = []

    private init(_ bytes: [UInt8], depth: Int = Self.depth) {
        self.bytes = bytes
        self.depth = depth
    }

    /// Reads a JSON text.
    /// - Parameters:
    ///   - json: the text, in UTF-8.
    ///   - depth: the limit of nested arrays and objects. Defaults to 32.
    /// - Throws: `JSONError`.
    /// - Complexity: linear in the bytes.
    package static func value(of json: some Collection<UInt8>, depth: Int = Self.depth) throws(JSONError) -> JSONValue {
        // Does not copy an array.
        var reader = JSONReader(Array(json), depth: depth)
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.index == reader.bytes.count else { throw reader.unexpected }
        return value
    }

    /// The number in JSON's form; `nil` for every other form, such as `nan`, `0x10`, `+1` or `1.`.
    package static func number(_ bytes: some Sequence<UInt8>) -> Double? {
        var reader = JSONReader(Array(bytes))
        guard let number = try? reader.number(), reader.index == reader.bytes.count else { return nil }
        return number
    }

    private var unexpected: JSONError { .unexpected(at: index) }
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        count += 1
        guard count <= Self.values else { throw .tooMany }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.description.utf8 {
            guard take(byte) else { throw unexpected }
        }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> [String: JSONValue] {
        guard depth <= self.depth else { throw .tooDeep(self.depth, at: index) }
        var members: [String: JSONValue] = [:]
        index += 1
        skipBlanks()
        if take(UInt8(ascii: "}")) { return members }
        members.reserveCapacity(Self.usualMembers)
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected }
            let place = index
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw unexpected }
            guard members.updateValue(try value(depth: depth), forKey: name) == nil else { throw .twice(at: place) }
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw unexpected }
        return members
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= self.depth else { throw .tooDeep(self.depth, at: index) }
        var elements: [JSONValue] = []
        index += 1
        skipBlanks()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw unexpected }
        return elements
    }
}

extension JSONReader {
    private mutating func number() throws(JSONError) -> Double {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)), number.isFinite else {
            throw .unexpected(at: start)
        }
        return number
    }

    /// At least one.
    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
        guard index > start else { throw unexpected }
    }

    private mutating func string() throws(JSONError) -> String {
        let start = index
        index += 1
        text.removeAll(keepingCapacity: true)
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw unexpected }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape() } else { text.append(byte) }
        }
        guard take(UInt8(ascii: "\"")) else { throw unexpected }
        guard let string = String(utf8: text[...]) else { throw .unexpected(at: start) }
        return string
    }

    /// The characters after a backslash.
    private mutating func escape() throws(JSONError) {
        guard let byte = next else { throw unexpected }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: Array(String(Character(try escapedScalar())).utf8))
        default: throw .unexpected(at: index - 1)
        }
    }

    /// One code unit of UTF-16, or the two of a pair.
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw unexpected }
        let second = try codeUnit()
        guard second >= 0xdc00, second < 0xe000,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw unexpected }
        return scalar
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else { throw unexpected }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}

/// Why a JSON text was refused. Repeats nothing of the text.
package enum JSONError: Error, Hashable {
    /// Invalid JSON from this byte on.
    case unexpected(at: Int)
    /// A duplicate member of an object.
    case twice(at: Int)
    /// More levels than this limit, from this byte on.
    case tooDeep(Int, at: Int)
    /// More values than the limit.
    case tooMany

    /// The problem; continues “The body”.
    package var reason: String {
        switch self {
        case .unexpected(let place): "is not JSON from byte \(place) on."
        case .twice(let place): "has a member twice in one object, again at byte \(place)."
        case .tooDeep(let limit, _): "has more than \(limit) levels."
        case .tooMany: "has more than \(JSONReader.values) values."
        }
    }
}
