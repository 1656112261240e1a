extension URLRule.Change: Codable {
    private enum Name: String, CaseIterable {
        case stripQuery, setQuery, addQueryIfAbsent, copyKeyURIQuery, copyKeyURIQueryIfAbsent
        case appendPath, appendPathIfAbsent, useOrigin
    }

    private struct Item: Codable {
        let name: String
        let value: TextRule
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .stripQuery: self = .stripQuery
        case .setQuery:
            let item: Item = try rule.parameter()
            self = .setQuery(name: item.name, value: item.value)
        case .addQueryIfAbsent:
            let item: Item = try rule.parameter()
            self = .addQueryIfAbsent(name: item.name, value: item.value)
        case .copyKeyURIQuery: self = .copyKeyURIQuery(names: try rule.parameter())
        case .copyKeyURIQueryIfAbsent: self = .copyKeyURIQueryIfAbsent(names: try rule.parameter())
        case .appendPath: self = .appendPath(try rule.parameter())
        case .appendPathIfAbsent: self = .appendPathIfAbsent(try rule.parameter())
        case .useOrigin: self = .useOrigin(try rule.parameter())
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .stripQuery: try encoder.encode(rule: Name.stripQuery)
        case .setQuery(let name, let value): try encoder.encode(rule: Name.setQuery, Item(name: name, value: value))
        case .addQueryIfAbsent(let name, let value):
            try encoder.encode(rule: Name.addQueryIfAbsent, Item(name: name, value: value))
        case .copyKeyURIQuery(let names): try encoder.encode(rule: Name.copyKeyURIQuery, names)
        case .copyKeyURIQueryIfAbsent(let names):
            try encoder.encode(rule: Name.copyKeyURIQueryIfAbsent, names)
        case .appendPath(let rule): try encoder.encode(rule: Name.appendPath, rule)
        case .appendPathIfAbsent(let rule): try encoder.encode(rule: Name.appendPathIfAbsent, rule)
        case .useOrigin(let rule): try encoder.encode(rule: Name.useOrigin, rule)
        }
    }
}
