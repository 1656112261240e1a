/// Finds the end of a head in bytes that arrive piece by piece, and refuses bytes that no head may have as soon as they arrive.
///
/// Lines end with CRLF and nothing else; no line begins with a blank; there are no control characters but tabs.
///
/// Source: RFC 9112 §2.2 and §5.2; RFC 9110 §5.5.
struct HeadScan {
    /// How many bytes are looked at.
    private var seen = 0
    /// Where the lines begin and end, without their line ends.
    private var lines: [Range<Int>] = []
    private var lineStart = 0

    /// How much is read of a head, as a multiple of the longest allowed, so that its refusal can be for the page that has sent it.
    private static let readBeyond = 4

    /// Scans the bytes that have arrived.
    /// - Parameters:
    ///   - bytes: everything from the first byte of the head on, each time.
    ///   - most: how many bytes a head may have.
    /// - Returns: the head and how many bytes it has; `nil` if its end has not arrived.
    mutating func head(
        in bytes: UnsafeRawBufferPointer, most: Int
    ) throws(HTTPRefusal) -> (head: RequestHead, count: Int)? {
        guard let (lines, count) = try lines(in: bytes, most: most) else { return nil }
        return (try RequestHead(lines), count)
    }

    /// The same for the head of a request or of a reply, as its lines without their ends.
    mutating func lines(
        in bytes: UnsafeRawBufferPointer, most: Int
    ) throws(HTTPRefusal) -> (lines: [UnsafeRawBufferPointer.SubSequence], count: Int)? {
        while seen < bytes.count {
            guard seen / Self.readBeyond < most else { throw .headTooLarge }
            let byte = bytes[seen]
            if byte >= 0x20, byte != 0x7f {
                if byte == UInt8(ascii: " "), seen == lineStart { throw .framing("A line begins with a space.") }
                seen += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\t") where seen > lineStart: seen += 1
            case UInt8(ascii: "\r"):
                guard seen + 1 < bytes.count else { return nil }
                guard bytes[seen + 1] == UInt8(ascii: "\n") else {
                    throw .framing("A carriage return has no line feed.")
                }
                seen += 2
                guard try endLine() else { continue }
                guard seen <= most else { throw .headTooLarge }
                return (lines.map { bytes[$0] }, seen)
            case UInt8(ascii: "\t"): throw .framing("A line begins with a space.")
            case UInt8(ascii: "\n"): throw .framing("A line ends without a carriage return.")
            default: throw .framing("The head has a control character.")
            }
        }
        return nil
    }

    /// The known parts of the request of a refused head.
    func request(in bytes: UnsafeRawBufferPointer) -> HTTPRequest? { RequestHead.request(lines.map { bytes[$0] }) }

    /// - Returns: whether the head ends with the line.
    private mutating func endLine() throws(HTTPRefusal) -> Bool {
        let line = lineStart..<(seen - 2)
        lineStart = seen
        guard line.isEmpty else {
            // Of too many, one too many is kept.
            if lines.count <= RequestHead.mostFields + 1 { lines.append(line) }
            return false
        }
        // One empty line may precede a request.
        guard lines.isEmpty else { return true }
        guard seen == 2 else { throw .framing("Empty lines precede the request.") }
        return false
    }
}
