/// The variables of a playlist, and the replacement of `{$name}` by their values.
///
/// Inserted values are not scanned again. Text that is not exactly a reference stays as it is.
///
/// Source: draft-pantos-hls-rfc8216bis §4.3, `Documentation/HLS.md` §7 rules 18 and 19.
struct Substitution {
    private(set) var values: [String: String] = [:]
    private let limits: PlaylistLimits
    private var insertedBytes = 0

    init(_ values: [String: String] = [:], limits: PlaylistLimits) {
        self.values = values
        self.limits = limits
    }

    mutating func define(_ name: String, as value: String, line: Int) throws(PlaylistError) {
        guard values[name] == nil else {
            throw PlaylistError(
                .duplicateDefinition, line: line, "the variable \(PlaylistError.short(name)) is defined twice")
        }
        guard values.count < limits.variables else { throw .limit("variables", limits.variables, line: line) }
        values[name] = value
    }

    /// The text with its variable references replaced.
    @inline(__always)
    mutating func text(of bytes: Bytes, line: Int) throws(PlaylistError) -> String {
        guard bytes.position(of: UInt8(ascii: "{")) != nil else { return bytes.text }
        return try replaced(bytes, line: line)
    }

    /// Throws for an undefined name, without building the text.
    func check(_ bytes: Bytes, line: Int) throws(PlaylistError) {
        for reference in Self.references(in: bytes) { _ = try value(of: reference.name, line: line) }
    }

    static func isName(_ bytes: Bytes) -> Bool { !bytes.isEmpty && bytes.allSatisfy(isNameByte) }

    private mutating func replaced(_ bytes: Bytes, line: Int) throws(PlaylistError) -> String {
        var text: [UInt8] = []
        var end = 0
        for reference in Self.references(in: bytes) {
            let value = try value(of: reference.name, line: line)
            insertedBytes += value.utf8.count
            guard insertedBytes <= limits.insertedBytes else {
                throw .limit("bytes from variables", limits.insertedBytes, line: line)
            }
            text.append(contentsOf: bytes.part(end, reference.start))
            text.append(contentsOf: value.utf8)
            end = reference.end
        }
        text.append(contentsOf: bytes.from(end))
        return String(decoding: text, as: UTF8.self)
    }

    private func value(of name: String, line: Int) throws(PlaylistError) -> String {
        if let value = values[name] { return value }
        throw PlaylistError(.undefinedVariable, line: line, "undefined variable \(PlaylistError.short(name))")
    }

    private struct Reference {
        let start: Int
        let end: Int
        let name: String
    }

    private static func references(in bytes: Bytes) -> [Reference] {
        var found: [Reference] = []
        var position = 0
        while let start = bytes.position(of: UInt8(ascii: "{"), from: position) {
            position = start + 1
            guard bytes.byte(at: position) == UInt8(ascii: "$") else { continue }
            var end = start + 2
            while isNameByte(bytes.byte(at: end)) { end += 1 }
            guard end > start + 2, bytes.byte(at: end) == UInt8(ascii: "}") else { continue }
            position = end + 1
            found.append(Reference(start: start, end: position, name: bytes.part(start + 2, end).text))
        }
        return found
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isUppercase || byte.isLowercase || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
