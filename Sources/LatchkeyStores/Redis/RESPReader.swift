package import LatchkeySystem

/// An answer of Redis.
///
/// Source: the Redis serialization protocol, version 2.
package enum RESPValue: Sendable, Hashable {
    case status(String)
    /// An error from Redis, on one line.
    case error(String)
    case integer(Int64)
    /// `nil` for no value.
    case bulk([UInt8]?)
    /// `nil` for no list.
    case list([RESPValue]?)

    /// The bytes of a value; `nil` for anything else.
    package var bytes: [UInt8]? {
        guard case .bulk(let bytes) = self else { return nil }
        return bytes
    }

    /// A text of a status or a value; `nil` for anything else.
    package var text: String? {
        if case .status(let text) = self { return text }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The elements of a list; `nil` for anything else.
    package var elements: [RESPValue]? {
        guard case .list(let elements) = self else { return nil }
        return elements
    }
}

/// Reads answers from bytes as they come, within limits.
package struct RESPReader: Sendable {
    /// The longest value: 1 MiB.
    package static let longestValue = 1_048_576
    /// The longest line.
    package static let longestLine = 65_536
    /// The deepest nesting of lists.
    package static let depth = 8
    /// The most values in one answer.
    package static let values = 100_000
    /// The longest answer: 16 MiB.
    package static let longestAnswer = 16 * 1_048_576

    private var buffer: [UInt8] = []
    /// The start of the next answer; the bytes before it have been handed out.
    private var start = 0
    /// The number of bytes from there that the next parse needs at least.
    private var needed = 1

    package init() {}

    /// Takes received bytes.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        // Once for all answers in the buffer, not for each.
        buffer.removeFirst(start)
        start = 0
        buffer += bytes
    }

    /// The next answer; `nil` until it is complete.
    /// - Throws: `StoreError`; then the connection is no longer usable.
    package mutating func next() throws(StoreError) -> RESPValue? {
        guard buffer.count - start >= needed else { return nil }
        var look = Look(buffer: buffer, index: start)
        switch try look.value(depth: 0) {
        case .some(let value):
            start = look.index
            needed = 1
            return value
        case nil:
            // So that a long value in small pieces is not parsed again for each of them.
            needed = max(look.missing, buffer.count + 1) - start
            guard buffer.count - start <= Self.longestAnswer else {
                throw .redisSent("a reply larger than 16 MiB")
            }
            return nil
        }
    }
}

extension StoreError {
    /// Bytes that are not an answer.
    fileprivate static func redisSent(_ what: String) -> Self {
        .redis("Redis sent \(what).", remedy: "Check that the address belongs to a Redis server.")
    }
}

/// One parse of the available bytes.
private struct Look {
    let buffer: [UInt8]
    var index: Int
    /// The least number of bytes for the next parse.
    var missing = 0
    private var count = 0

    init(buffer: [UInt8], index: Int) { (self.buffer, self.index) = (buffer, index) }

    mutating func value(depth: Int) throws(StoreError) -> RESPValue? {
        count += 1
        guard count <= RESPReader.values else { throw .redisSent("more than \(RESPReader.values) values") }
        guard let line = try line(), let kind = line.first else { return nil }
        let rest = line.dropFirst()
        switch kind {
        case UInt8(ascii: "+"): return .status(String(decoding: rest, as: UTF8.self))
        case UInt8(ascii: "-"): return .error(String(decoding: rest, as: UTF8.self))
        case UInt8(ascii: ":"): return .integer(try number(rest))
        case UInt8(ascii: "$"): return try bulk(try number(rest))
        case UInt8(ascii: "*"): return try list(try number(rest), depth: depth + 1)
        default: throw .redisSent("an invalid reply")
        }
    }

    private mutating func bulk(_ length: Int64) throws(StoreError) -> RESPValue? {
        if length == -1 { return .bulk(nil) }
        guard (0...Int64(RESPReader.longestValue)).contains(length) else { throw .redisSent("an oversized value") }
        let end = index + Int(length)
        guard buffer.count >= end + 2 else {
            missing = end + 2
            return nil
        }
        guard buffer[end] == 0x0d, buffer[end + 1] == 0x0a else { throw .redisSent("an unterminated value") }
        defer { index = end + 2 }
        return .bulk(Array(buffer[index..<end]))
    }

    private mutating func list(_ length: Int64, depth: Int) throws(StoreError) -> RESPValue? {
        if length == -1 { return .list(nil) }
        guard depth <= RESPReader.depth else { throw .redisSent("deeply nested lists") }
        guard (0...Int64(RESPReader.values)).contains(length) else { throw .redisSent("an oversized list") }
        var values: [RESPValue] = []
        for _ in 0..<length {
            guard let value = try value(depth: depth) else { return nil }
            values.append(value)
        }
        return .list(values)
    }

    /// The bytes up to the end of the line, at least the kind; `nil` if the line is incomplete.
    private mutating func line() throws(StoreError) -> ArraySlice<UInt8>? {
        guard let end = buffer[index...].firstIndex(of: 0x0a) else {
            guard buffer.count - index <= RESPReader.longestLine else { throw .redisSent("an oversized line") }
            return nil
        }
        guard end > index + 1, end - index <= RESPReader.longestLine, buffer[end - 1] == 0x0d else {
            throw .redisSent("an invalid reply")
        }
        defer { index = end + 1 }
        return buffer[index..<(end - 1)]
    }

    private func number(_ digits: ArraySlice<UInt8>) throws(StoreError) -> Int64 {
        guard digits.first != UInt8(ascii: "+"), let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw .redisSent("an invalid number")
        }
        return number
    }
}
