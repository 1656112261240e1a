/// The attributes of one tag, in order: `NAME=VALUE,NAME="VALUE"`.
///
/// A quoted value holds anything except quotes and line ends: commas and `=` in it do not split, and there are no escapes.
/// Blanks around names and values violate the specification but are common; the parser drops and reports them.
///
/// Source: RFC 8216 §4.2, `Documentation/HLS.md` §7 rule 3.
struct AttributeList {
    struct Attribute {
        let name: Bytes
        let value: Bytes
        let isQuoted: Bool
    }

    private(set) var attributes: [Attribute] = []
    /// Whether blanks or commas were misplaced, or a name had characters other than `A-Z 0-9 -`.
    private(set) var isOdd = false
    let line: Int
    private let body: Bytes
    private var position = 0

    init(_ body: Bytes, line: Int, limit: Int) throws(PlaylistError) {
        self.body = body
        self.line = line
        guard body.position(of: .carriageReturn) == nil else { throw malformed("a lone CR in the attributes") }
        attributes.reserveCapacity(6)
        skipBlanks()
        while position < body.count {
            let attribute = try next()
            guard attributes.count < limit else { throw .limit("attributes", limit, line: line) }
            if attributes.contains(where: { $0.name.equals(attribute.name) }) {
                let name = PlaylistError.short(attribute.name.text)
                throw PlaylistError(.duplicateAttribute, line: line, "the attribute \(name) is repeated")
            }
            attributes.append(attribute)
        }
    }

    subscript(name: StaticString) -> Attribute? { attributes.first { $0.name.equals(name) } }

    private mutating func next() throws(PlaylistError) -> Attribute {
        guard let equals = body.position(of: .equalsSign, from: position) else {
            throw malformed("an attribute without a value")
        }
        let name = body.part(position, equals).trimmed
        guard !name.isEmpty, name.position(of: .comma) == nil, name.position(of: .quote) == nil else {
            throw malformed("an attribute without a name or a value")
        }
        isOdd = isOdd || name.count != equals - position || !name.allSatisfy(Self.isNameByte)
        position = equals + 1
        skipBlanks()
        let isQuoted = body.byte(at: position) == .quote
        let value = isQuoted ? try quotedValue() : bareValue()
        try skipComma()
        return Attribute(name: name, value: value, isQuoted: isQuoted)
    }

    private mutating func quotedValue() throws(PlaylistError) -> Bytes {
        guard let end = body.position(of: .quote, from: position + 1) else { throw malformed("a quote is not closed") }
        defer { position = end + 1 }
        return body.part(position + 1, end)
    }

    private mutating func bareValue() -> Bytes {
        let end = body.position(of: .comma, from: position) ?? body.count
        let whole = body.part(position, end)
        position = end
        isOdd = isOdd || whole.trimmed.count != whole.count
        return whole.trimmed
    }

    private mutating func skipComma() throws(PlaylistError) {
        skipBlanks()
        guard position < body.count else { return }
        guard body.byte(at: position) == .comma else { throw malformed("text behind a closing quote") }
        position += 1
        skipBlanks()
        isOdd = isOdd || position == body.count
    }

    private mutating func skipBlanks() {
        while body.byte(at: position).isBlank {
            position += 1
            isOdd = true
        }
    }

    private func malformed(_ summary: String) -> PlaylistError {
        PlaylistError(.malformedAttributes, line: line, summary)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isUppercase || byte.isDigit || byte == UInt8(ascii: "-")
    }
}
