/// A place in the bytes of a document. Never leaves them.
struct XMLCursor {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    /// The next byte; `nil` at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Goes on by one byte, unless at the end.
    mutating func advance() { position = min(position + 1, bytes.count) }

    /// Takes bytes as long as a condition holds.
    mutating func take(while holds: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        position = bytes[start...].firstIndex { !holds($0) } ?? bytes.count
        return bytes[start..<position]
    }

    /// Takes the bytes before a text, and goes behind it; `nil` if the text does not come.
    mutating func take(upTo text: StaticString) -> ArraySlice<UInt8>? {
        let start = position
        while !isAtEnd {
            let end = position
            if skip(text) { return bytes[start..<end] }
            position += 1
        }
        return nil
    }

    /// Goes behind a text if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let isNext = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if isNext { position += text.utf8CodeUnitCount }
        return isNext
    }

    /// Goes behind blanks and line ends.
    /// - Returns: whether there were any.
    @discardableResult
    mutating func skipBlanks() -> Bool { !take(while: Self.isBlank).isEmpty }

    /// The refusal at this place.
    var malformed: XMLTreeError { XMLTreeError(.malformed, "The XML is not well-formed at byte \(position).") }

    /// Where a text begins in some bytes; `nil` if it does not.
    static func find(_ text: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        text.withUTF8Buffer { text in bytes.indices.first { bytes[$0...].starts(with: text) } }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "\""),
            UInt8(ascii: "'"), UInt8(ascii: "&"), UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
