extension BodyRule: Codable {
    enum Name: String, CaseIterable {
        case raw, base64Text, form, formWithKeyURIQuery, json, multipart
    }

    /// The rule's name in JSON.
    var name: Name {
        switch self {
        case .raw: .raw
        case .base64Text: .base64Text
        case .form: .form
        case .formWithKeyURIQuery: .formWithKeyURIQuery
        case .json: .json
        case .multipart: .multipart
        }
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .raw: self = .raw
        case .base64Text: self = .base64Text
        case .form: self = .form(try rule.parameter())
        case .formWithKeyURIQuery: self = .formWithKeyURIQuery(try rule.parameter())
        case .json: self = .json(try rule.parameter())
        case .multipart: self = .multipart(try rule.parameter())
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .raw, .base64Text: try encoder.encode(rule: name)
        case .form, .formWithKeyURIQuery, .multipart: try encoder.encode(rule: name, fields)
        case .json(let template): try encoder.encode(rule: name, template)
        }
    }
}

extension BodyRule.Field: Codable {
    private enum Key: String, CodingKey {
        case name, value, escaping
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            try container.decode(String.self, forKey: .name), try container.decode(TextRule.self, forKey: .value),
            escaping: try container.decodeIfPresent(BodyRule.Escaping.self, forKey: .escaping) ?? .percent)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        if escaping != .percent { try container.encode(escaping, forKey: .escaping) }
    }
}
