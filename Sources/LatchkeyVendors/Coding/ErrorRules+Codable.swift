import LatchkeyCore

/// An error rule's JSON leaves out what has a default.
@_spi(Integrations) extension ErrorRules: Codable {
    private enum Key: String, CodingKey {
        case successes, code, message, requestID, requestIDInBody, kinds, codes, refusesWithSuccess
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let standard = ErrorRules()
        func value<Value: Decodable>(_ key: Key, or standard: Value) throws -> Value {
            try container.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        let kinds = try value(.kinds, or: [String: ServiceKind]()).mapValues(\.kind)
        self.init(
            successes: try value(.successes, or: standard.successes), code: try value(.code, or: []),
            message: try value(.message, or: []), requestID: try value(.requestID, or: standard.requestID),
            requestIDInBody: try value(.requestIDInBody, or: []), kinds: kinds, codes: try value(.codes, or: [:]),
            refusesWithSuccess: try value(.refusesWithSuccess, or: false))
    }

    public func encode(to encoder: any Encoder) throws {
        let standard = ErrorRules()
        var container = encoder.container(keyedBy: Key.self)
        if successes != standard.successes { try container.encode(successes.sorted(), forKey: .successes) }
        if !code.isEmpty { try container.encode(code, forKey: .code) }
        if !message.isEmpty { try container.encode(message, forKey: .message) }
        if requestID != standard.requestID { try container.encode(requestID, forKey: .requestID) }
        if !requestIDInBody.isEmpty { try container.encode(requestIDInBody, forKey: .requestIDInBody) }
        let kinds = codes.filter(\.value.isKindAlone).mapValues(\.kind.rawValue)
        if !kinds.isEmpty { try container.encode(kinds, forKey: .kinds) }
        let documented = codes.filter { !$0.value.isKindAlone }
        if !documented.isEmpty { try container.encode(documented, forKey: .codes) }
        if refusesWithSuccess { try container.encode(true, forKey: .refusesWithSuccess) }
    }
}

@_spi(Integrations) extension ErrorRules.ReplyField: Codable {
    private enum Name: String, CaseIterable {
        case header, json, word, knownCode, text
    }

    public init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .header: self = .header(try rule.parameter())
        case .json: self = .json(try rule.parameter())
        case .word: self = .word(try rule.parameter())
        case .knownCode: self = .knownCode
        case .text: self = .text
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .header(let name): try encoder.encode(rule: Name.header, name)
        case .json(let path): try encoder.encode(rule: Name.json, path)
        case .word(let start): try encoder.encode(rule: Name.word, start)
        case .knownCode: try encoder.encode(rule: Name.knownCode)
        case .text: try encoder.encode(rule: Name.text)
        }
    }
}

/// A code's JSON leaves out what is the kind's usual.
@_spi(Integrations) extension DocumentedCode: Codable {
    private enum Key: String, CodingKey {
        case kind, status, meaning, remedy, retry, newCredentials
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            try container.decode(ServiceKind.self, forKey: .kind).kind,
            try container.decodeIfPresent(String.self, forKey: .meaning),
            try container.decodeIfPresent(String.self, forKey: .remedy),
            status: try container.decodeIfPresent(Int.self, forKey: .status),
            retry: try container.decodeIfPresent(Bool.self, forKey: .retry),
            newCredentials: try container.decodeIfPresent(Bool.self, forKey: .newCredentials))
    }

    public func encode(to encoder: any Encoder) throws {
        let usual = Self(kind)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(kind.rawValue, forKey: .kind)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(meaning, forKey: .meaning)
        if remedy != usual.remedy { try container.encode(remedy, forKey: .remedy) }
        if isRetryable != usual.isRetryable { try container.encode(isRetryable, forKey: .retry) }
        if wantsNewCredentials != usual.wantsNewCredentials {
            try container.encode(wantsNewCredentials, forKey: .newCredentials)
        }
    }
}

/// A kind that a service's code may mean.
struct ServiceKind: RawRepresentable, CaseIterable, Decodable {
    static let allCases = Diagnosis.Kind.all.filter { 200..<300 ~= $0.number }.map(Self.init(kind:))

    let kind: Diagnosis.Kind
    var rawValue: String { kind.rawValue }

    init(kind: Diagnosis.Kind) { self.kind = kind }

    init?(rawValue: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = found
    }
}
