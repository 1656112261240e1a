/// A row in a segment: eight hexadecimal digits of the CRC-32 of its JSON, a space, the JSON, a newline.
///
/// A row that a crash tore has no newline, or a wrong checksum.
enum SpoolFrame {
    static let newline = UInt8(ascii: "\n")
    private static let head = 9

    static func append(_ position: RecordPosition, _ jsonEnd: [UInt8], to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: head))
        bytes.append(contentsOf: position.jsonStart)
        bytes.append(contentsOf: jsonEnd)
        var sum = CRC32.sum(bytes[(start + head)...])
        for place in stride(from: start + head - 2, through: start, by: -1) {
            bytes[place] = digits[Int(sum & 15)]
            sum >>= 4
        }
        bytes.append(newline)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// The row in a line without its newline; `nil` if it is malformed, or has no valid day.
    static func line(in frame: ArraySlice<UInt8>) -> (line: RecordBatch.Line, spool: String)? {
        guard frame.count > head, frame[frame.startIndex + head - 1] == UInt8(ascii: " "),
            let sum = UInt32(String(decoding: frame.prefix(head - 1), as: UTF8.self), radix: 16)
        else { return nil }
        let json = frame.dropFirst(head)
        guard CRC32.sum(json) == sum, let sequence = number(after: "\"seq\":", in: json),
            let time = number(after: "\"time\":", in: json), time < LicenseRecordRow.endOfTime,
            let spool = text(after: "\"spool\":\"", in: json)
        else { return nil }
        return (
            RecordBatch.Line(sequence: sequence, time: Int64(clamping: time), json: Array(json)), spool
        )
    }

    /// Quotes in JSON texts are escaped, so that a member's name between quotes and before a colon is always a member's name.
    private static func number(after name: StaticString, in json: ArraySlice<UInt8>) -> UInt64? {
        guard let start = end(of: name, in: json) else { return nil }
        let digits = json[start...].prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    private static func text(after name: StaticString, in json: ArraySlice<UInt8>) -> String? {
        guard let start = end(of: name, in: json) else { return nil }
        return String(decoding: json[start...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    private static func end(of name: StaticString, in json: ArraySlice<UInt8>) -> Int? {
        name.withUTF8Buffer { name in
            json.withUnsafeBufferPointer { json in
                (0..<max(0, json.count - name.count)).first { start in
                    json[start] == name[0] && name.indices.allSatisfy { json[start + $0] == name[$0] }
                }
            }
        }.map { json.startIndex + $0 + name.utf8CodeUnitCount }
    }
}

/// The checksum of Ethernet and of gzip.
///
/// Source: RFC 1952 §8.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { sum, _ in sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xedb8_8320 }
    }

    static func sum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                ~bytes.reduce(~0) { sum, byte in table[Int((sum ^ UInt32(byte)) & 255)] ^ (sum >> 8) }
            }
        }
    }
}
