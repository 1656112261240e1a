/// Reads a body in chunks that arrives piece by piece.
///
/// Chunk extensions are read and forgotten, within a limit, and so are trailers. A body is refused whose chunks are mostly smaller than what
/// frames them: each costs as much as a long one. Source: RFC 9112 §7.1.
struct ChunkedBody {
    /// The result of a step.
    enum Step: Equatable {
        /// Bytes of the body.
        case piece(Range<Int>)
        /// The body has ended; what follows is the next request.
        case end
        /// More has to arrive.
        case more
    }

    private enum Expectation { case size, data(UInt64), dataEnd, trailer }

    private static let mostLine = 256
    /// How many bytes may frame chunks beyond as many as the chunks have.
    private static let framingAllowed: UInt64 = 16 * 1_024
    private var expectation = Expectation.size
    private var framingBytes: UInt64 = 0
    private var pieceBytes: UInt64 = 0
    private var trailerBytes = 0
    private let mostTrailerBytes: Int
    private let mostBytes: UInt64

    /// - Parameters:
    ///   - mostBytes: how many bytes a chunk may have.
    ///   - mostTrailerBytes: how many bytes the trailers may have.
    init(mostBytes: Int, mostTrailerBytes: Int) {
        (self.mostBytes, self.mostTrailerBytes) = (UInt64(clamping: mostBytes), mostTrailerBytes)
    }

    /// The next step.
    /// - Parameters:
    ///   - bytes: the bytes that have arrived and are not read.
    ///   - used: counts on by how many bytes were read.
    mutating func next(in bytes: UnsafeRawBufferPointer, _ used: inout Int) throws(HTTPRefusal) -> Step {
        while true {
            switch expectation {
            case .size:
                let start = used
                guard let line = try line(in: bytes, &used, most: Self.mostLine) else { return .more }
                // With the line end behind the chunk.
                framingBytes += UInt64(used - start) + 2
                guard framingBytes <= Self.framingAllowed + pieceBytes else { throw Self.tooSmall }
                let size = try Self.size(bytes[line])
                guard size <= mostBytes else { throw .bodyTooLarge }
                expectation = size == 0 ? .trailer : .data(size)
            case .data(let left):
                guard used < bytes.count else { return .more }
                let count = Int(clamping: min(left, UInt64(bytes.count - used)))
                expectation = UInt64(count) == left ? .dataEnd : .data(left - UInt64(count))
                used += count
                pieceBytes += UInt64(count)
                return .piece((used - count)..<used)
            case .dataEnd:
                guard let line = try line(in: bytes, &used, most: 2) else { return .more }
                guard line.isEmpty else { throw Self.malformed }
                expectation = .size
            case .trailer:
                let start = used
                guard let line = try line(in: bytes, &used, most: mostTrailerBytes) else { return .more }
                if line.isEmpty { return .end }
                trailerBytes += used - start
                guard trailerBytes <= mostTrailerBytes else { throw .headTooLarge }
                guard Self.isTrailer(bytes[line]) else { throw Self.malformed }
            }
        }
    }

    /// The next line without its end; `nil` if that has not arrived.
    private func line(
        in bytes: UnsafeRawBufferPointer, _ used: inout Int, most: Int
    ) throws(HTTPRefusal) -> Range<Int>? {
        var index = used
        while index < bytes.count {
            guard index - used < most else { throw Self.malformed }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\r") {
                guard index + 1 < bytes.count else { return nil }
                guard bytes[index + 1] == UInt8(ascii: "\n") else { throw Self.malformed }
                defer { used = index + 2 }
                return used..<index
            }
            guard (byte >= 0x20 && byte != 0x7f) || byte == UInt8(ascii: "\t") else { throw Self.malformed }
            index += 1
        }
        return nil
    }

    private static func size(_ line: UnsafeRawBufferPointer.SubSequence) throws(HTTPRefusal) -> UInt64 {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...16).contains(digits.count), digits.allSatisfy(isHexDigit),
            let size = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed }
        return size
    }

    private static func isTrailer(_ line: UnsafeRawBufferPointer.SubSequence) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return false }
        return line[..<colon].allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static let malformed = HTTPRefusal.framing("The chunks of the body are malformed.")
    private static let tooSmall = HTTPRefusal.framing("The chunks of the body are smaller than their framing.")
}
