extension CKCDecoder: Codable {
    private enum Name: String, CaseIterable {
        case raw, base64Text, tagged, json, jsonOr, tolerant, preferring
    }

    private struct JSONOr: Codable {
        let paths: [String]
        let `else`: CKCDecoder
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .raw: self = .raw
        case .base64Text: self = .base64Text
        case .tagged: self = .tagged
        case .json: self = .json(try rule.parameter())
        case .jsonOr:
            let either: JSONOr = try rule.parameter()
            self = .jsonOr(either.paths, either.else)
        case .tolerant: self = .tolerant
        case .preferring: self = .preferring(try rule.parameter())
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .raw: try encoder.encode(rule: Name.raw)
        case .base64Text: try encoder.encode(rule: Name.base64Text)
        case .tagged: try encoder.encode(rule: Name.tagged)
        case .json(let paths): try encoder.encode(rule: Name.json, paths)
        case .jsonOr(let paths, let other):
            try encoder.encode(rule: Name.jsonOr, JSONOr(paths: paths, else: other))
        case .tolerant: try encoder.encode(rule: Name.tolerant)
        case .preferring(let decoder): try encoder.encode(rule: Name.preferring, decoder)
        }
    }
}

extension CertificateDecoder: Codable {
    private enum Name: String, CaseIterable {
        case der, base64Text, json, sniff
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .der: self = .der
        case .base64Text: self = .base64Text
        case .json: self = .json(try rule.parameter())
        case .sniff: self = .sniff
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .der: try encoder.encode(rule: Name.der)
        case .base64Text: try encoder.encode(rule: Name.base64Text)
        case .json(let path): try encoder.encode(rule: Name.json, path)
        case .sniff: try encoder.encode(rule: Name.sniff)
        }
    }
}

extension VendorProfile.CertificateRule: Codable {
    private enum Name: String, CaseIterable {
        case fetched, inline, inlineOrFetched
    }

    private struct Fetched: Codable {
        let request: RequestRule
        let decoder: CertificateDecoder
    }

    private struct InlineOrFetched: Codable {
        let setting: String?
        let request: RequestRule
        let decoder: CertificateDecoder
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .fetched:
            let fetched: Fetched = try rule.parameter()
            self = .fetched(fetched.request, fetched.decoder)
        case .inline: self = .inline(setting: try rule.parameter())
        case .inlineOrFetched:
            let either: InlineOrFetched = try rule.parameter()
            self = .inlineOrFetched(setting: either.setting ?? SettingName.certificate, either.request, either.decoder)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .fetched(let request, let decoder):
            try encoder.encode(rule: Name.fetched, Fetched(request: request, decoder: decoder))
        case .inline(let setting): try encoder.encode(rule: Name.inline, setting)
        case .inlineOrFetched(let setting, let request, let decoder):
            let either = InlineOrFetched(setting: setting, request: request, decoder: decoder)
            try encoder.encode(rule: Name.inlineOrFetched, either)
        }
    }
}
