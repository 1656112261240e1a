import Foundation
import LatchkeyCore

/// Parses the head of a reply line by line, up to a limit of bytes and of fields.
struct ReplyHead {
    private let byteLimit: Int
    private let fieldLimit: Int
    private var bytes = 0
    private var count = 0
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var isEnded = false

    init(_ configuration: CurlConfiguration) {
        byteLimit = configuration.headBytes
        fieldLimit = configuration.headFields
    }

    /// Whether the head of the final reply is complete. An interim reply such as 103 does not count.
    var isComplete: Bool { isEnded && !(100..<200).contains(status) }

    /// Whether any line has arrived.
    var hasBegun: Bool { bytes > 0 }

    /// Parses the next line: a status line, a field, the empty line, or a trailer after the body.
    /// - Throws: `headTooLarge`.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(TransportError) {
        let (sum, isOver) = bytes.addingReportingOverflow(line.count)
        guard !isOver, sum <= byteLimit else {
            throw TransportError(.headTooLarge, "The head of the reply is larger than \(byteLimit) bytes.")
        }
        bytes = sum
        if line.starts(with: "HTTP/".utf8), !isComplete {
            begin(line)
        } else if line.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) {
            isEnded = true
        } else {
            try addField(line)
        }
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2)
        status = words.dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        fields = []
        isEnded = false
    }

    private mutating func addField(_ line: UnsafeRawBufferPointer) throws(TransportError) {
        count += 1
        guard count <= fieldLimit else {
            throw TransportError(.headTooLarge, "The reply has more than \(fieldLimit) header fields.")
        }
        // A trailer arrives after the head is complete. It must not replace a field that has been used.
        guard !isComplete else { return }
        let text = String(decoding: line, as: UTF8.self)
        if let first = text.first, first == " " || first == "\t", let last = fields.indices.last {
            fields[last].value += " " + text.trimmingCharacters(in: .whitespacesAndNewlines)
        } else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
            fields.append((String(parts.first ?? ""), value))
        }
    }

    /// The stated body length, clamped to the largest number; `nil` if absent.
    var statedLength: Int? {
        guard let text = joined.first(where: { $0.name.lowercased() == "content-length" })?.value,
            !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text) ?? .max
    }

    /// The fields by name, each name once.
    var joined: [(name: String, value: String)] {
        var places: [String: Int] = [:]
        var result: [(name: String, value: String)] = []
        for field in fields {
            if let place = places[field.name.lowercased()] {
                result[place].value += ", " + field.value
            } else {
                places[field.name.lowercased()] = result.count
                result.append(field)
            }
        }
        return result.sorted { $0.name < $1.name }
    }
}
