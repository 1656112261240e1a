/// A rule as JSON has it: its name alone, `"raw"`, or an object of one member, `{"setting": "licenseURL"}`.
///
/// - Parameter Name: the names of all rules of one kind.
struct NamedRule<Name: RawRepresentable & CaseIterable> where Name.RawValue == String {
    /// Which rule it is.
    let name: Name
    private let container: KeyedDecodingContainer<AnyKey>?
    private let codingPath: [any CodingKey]

    /// - Throws: `DecodingError` with the place, naming the rules that there are.
    init(from decoder: any Decoder) throws {
        codingPath = decoder.codingPath
        try decoder.checkDepth()
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            guard let name = Name(rawValue: text) else { throw Self.unknown(text, at: codingPath) }
            (self.name, container) = (name, nil)
            return
        }
        guard let container = try? decoder.container(keyedBy: AnyKey.self) else {
            throw Self.noRule("This", at: codingPath)
        }
        let keys = container.allKeys.map(\.stringValue).sorted()
        guard let key = keys.first, keys.count == 1, let name = Name(rawValue: key) else {
            throw Self.unknown(keys.joined(separator: ", "), at: codingPath)
        }
        (self.name, self.container) = (name, container)
    }

    /// The rule's parameter.
    func parameter<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard let container else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath,
                    debugDescription: "\"\(name.rawValue)\" needs a parameter: {\"\(name.rawValue)\": …}."))
        }
        return try container.decode(Value.self, forKey: AnyKey(stringValue: name.rawValue))
    }

    private static func unknown(_ text: String, at codingPath: [any CodingKey]) -> DecodingError {
        noRule("\"\(text.prefix(60))\"", at: codingPath)
    }

    private static func noRule(_ subject: String, at codingPath: [any CodingKey]) -> DecodingError {
        let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
        let text = "\(subject) is no rule; a rule is a name or an object with exactly one of \(names)."
        return .dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }
}

extension Decoder {
    /// Refuses rules that stand deeper than any profile needs.
    ///
    /// - Throws: `DecodingError` with the place, from 32 names and indexes on.
    func checkDepth() throws {
        let limit = 32
        guard codingPath.count > limit else { return }
        let text = "Rules are nested too deep: a place has at most \(limit) names and indexes."
        throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }
}

extension Encoder {
    /// Writes a rule without a parameter.
    func encode(rule name: some RawRepresentable<String>) throws {
        var container = singleValueContainer()
        try container.encode(name.rawValue)
    }

    /// Writes a rule and its parameter.
    func encode(rule name: some RawRepresentable<String>, _ parameter: some Encodable) throws {
        var container = container(keyedBy: AnyKey.self)
        try container.encode(parameter, forKey: AnyKey(stringValue: name.rawValue))
    }
}

/// A coding key of any name.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
