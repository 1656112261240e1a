/// The JSON form leaves out empty lists and sorts names alphabetically.
extension Redaction: Codable {
    private enum Key: String, CodingKey {
        case headers, queryItems, fields
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            headers: try container.decodeIfPresent(Set<String>.self, forKey: .headers) ?? [],
            queryItems: try container.decodeIfPresent(Set<String>.self, forKey: .queryItems) ?? [],
            fields: try container.decodeIfPresent(Set<String>.self, forKey: .fields) ?? [])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (names, key) in [(headers, Key.headers), (queryItems, .queryItems), (fields, .fields)] where !names.isEmpty
        {
            try container.encode(names.sorted(), forKey: key)
        }
    }
}
