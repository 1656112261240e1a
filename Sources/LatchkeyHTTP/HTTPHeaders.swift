/// The header fields of a request or a reply: ordered, with duplicates.
public struct HTTPHeaders: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: HTTPHeaderName
        /// The value, without surrounding blanks.
        public let value: String

        /// - Parameters:
        ///   - name: the name as it is to be written.
        ///   - value: the value.
        public init(name: HTTPHeaderName, value: String) {
            self.name = name
            self.value = value
        }
    }

    private static let usualCount = 8

    /// The fields in the order of the wire.
    public private(set) var fields: [Field]

    /// - Parameter fields: the fields in order.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// The first value of a name, or `nil`. Setting replaces every field of that name.
    public subscript(_ name: HTTPHeaderName) -> String? {
        get { fields.first { $0.name == name }?.value }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { append(name, newValue) }
        }
    }

    /// Every value of a name, in order.
    public func values(of name: HTTPHeaderName) -> [String] { fields.lazy.filter { $0.name == name }.map(\.value) }

    /// Adds a field behind the others.
    public mutating func append(_ name: HTTPHeaderName, _ value: String) {
        // Few messages have more fields; growing by one would allocate four times on the way.
        if fields.capacity < Self.usualCount { fields.reserveCapacity(Self.usualCount) }
        fields.append(Field(name: name, value: value))
    }

    /// The media type of `Content-Type` in lower case and without parameters, such as `application/json`.
    public var mediaType: String? {
        guard let type = self[.contentType], !type.isEmpty else { return nil }
        if type.utf8.allSatisfy(Self.isPlain) { return type }
        return type.split(separator: ";").first?.lowercased().trimmingBlanks
    }

    /// Whether a byte stands for itself in a media type without parameters: a small letter, a digit, `/`, `-`, `.` or `+`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "+"): true
        default: false
        }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
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
