import LatchkeyCore

// A profile's JSON leaves out members with default values.
extension VendorProfile {
    private enum Key: String, CodingKey {
        case identifier, name, parameters, contentIdentifier, requestContentID, certificate, lookup, session, license,
            renewalRequest
        case decoder, sideValues, terms, renewal, errors, token, hosts, redaction, settings, evidence
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ key: Key, or standard: Value) throws -> Value {
            try container.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        self.init(
            identifier: try container.decode(String.self, forKey: .identifier),
            name: try container.decode(String.self, forKey: .name),
            parameters: try value(.parameters, or: []),
            contentIdentifierRule: try container.decode(TextRule.self, forKey: .contentIdentifier),
            requestContentID: try container.decodeIfPresent(TextRule.self, forKey: .requestContentID),
            certificate: try container.decode(CertificateRule.self, forKey: .certificate),
            lookup: try container.decodeIfPresent(LookupRule.self, forKey: .lookup),
            session: try container.decodeIfPresent(SessionRule.self, forKey: .session),
            license: try container.decode(RequestRule.self, forKey: .license),
            renewalRequest: try container.decodeIfPresent(RequestRule.self, forKey: .renewalRequest),
            decoder: try container.decode(CKCDecoder.self, forKey: .decoder),
            sideValues: try value(.sideValues, or: [:]),
            terms: try container.decodeIfPresent(TermsRule.self, forKey: .terms),
            renewal: try value(.renewal, or: RenewalPolicy()),
            errors: try value(.errors, or: ErrorRules()),
            token: try value(.token, or: .opaque),
            hosts: try value(.hosts, or: []),
            statedRedaction: try value(.redaction, or: .standard),
            settings: try value(.settings, or: [:]),
            evidence: try container.decodeIfPresent(ProfileEvidence.self, forKey: .evidence))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        func write<Value: Encodable & Equatable>(_ value: Value, _ key: Key, unless standard: Value) throws {
            if value != standard { try container.encode(value, forKey: key) }
        }
        try container.encode(identifier, forKey: .identifier)
        try container.encode(name, forKey: .name)
        try write(parameters, .parameters, unless: [])
        try container.encode(contentIdentifierRule, forKey: .contentIdentifier)
        try container.encodeIfPresent(requestContentID, forKey: .requestContentID)
        try container.encode(certificate, forKey: .certificate)
        try container.encodeIfPresent(lookup, forKey: .lookup)
        try container.encodeIfPresent(session, forKey: .session)
        try container.encode(license, forKey: .license)
        try container.encodeIfPresent(renewalRequest, forKey: .renewalRequest)
        try container.encode(decoder, forKey: .decoder)
        try write(sideValues, .sideValues, unless: [:])
        try container.encodeIfPresent(terms, forKey: .terms)
        try write(renewal, .renewal, unless: RenewalPolicy())
        try write(errors, .errors, unless: ErrorRules())
        try write(token, .token, unless: .opaque)
        try write(hosts, .hosts, unless: [])
        try write(statedRedaction, .redaction, unless: .standard)
        try write(settings, .settings, unless: [:])
        try container.encodeIfPresent(evidence, forKey: .evidence)
    }
}
