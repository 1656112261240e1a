/// The header fields of a request or a reply: ordered, duplicates kept, names compared without regard to letter case.
public struct HTTPHeaders: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name as written.
        public let name: String
        /// The value, without surrounding blanks.
        public let value: String

        /// - Parameters:
        ///   - name: the name as it is to be written.
        ///   - value: the value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in the order in which they stand on the wire.
    public private(set) var fields: [Field]

    /// - Parameter fields: the fields in order.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// The first value of a name; nil where the field is absent. Setting replaces every field of that name.
    public subscript(_ name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Every value of a name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { Self.equal($0.name, name) }.map(\.value)
    }

    /// Adds a field behind the others.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The media type of `Content-Type` in lower case and without parameters, such as `application/json`.
    public var mediaType: String? {
        guard let type = self["Content-Type"]?.split(separator: ";").first else { return nil }
        return type.lowercased().trimmingBlanks
    }

    /// ASCII letters compare without regard to case, without making new strings.
    static func equal(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension StringProtocol {
    /// The text without blanks and tabs at both ends.
    var trimmingBlanks: String {
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
