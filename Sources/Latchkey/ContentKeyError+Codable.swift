import LatchkeyCore
import LatchkeyVendors

/// An error as JSON: `code`, `reason`, `remedy`, `isRetryable`, `attempts`, and, if known, `stage` and `service`; `isRepeated` if it is
/// true. The underlying error is left out.
extension ContentKeyError: Codable {
    private enum Key: String, CodingKey {
        case code, stage, reason, remedy, isRetryable, attempts, isRepeated, service
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            Kind(rawValue: try values.decode(String.self, forKey: .code)),
            stage: try values.decodeIfPresent(Stage.self, forKey: .stage),
            try values.decode(String.self, forKey: .reason), remedy: try values.decode(String.self, forKey: .remedy),
            isRetryable: try values.decode(Bool.self, forKey: .isRetryable),
            service: try values.decodeIfPresent(ServiceReply.self, forKey: .service))
        attempts = try values.decode(Int.self, forKey: .attempts)
        isRepeated = try values.decodeIfPresent(Bool.self, forKey: .isRepeated) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(code, forKey: .code)
        try values.encodeIfPresent(stage, forKey: .stage)
        try values.encode(reason, forKey: .reason)
        try values.encode(remedy, forKey: .remedy)
        try values.encode(isRetryable, forKey: .isRetryable)
        try values.encode(attempts, forKey: .attempts)
        if isRepeated { try values.encode(true, forKey: .isRepeated) }
        try values.encodeIfPresent(service, forKey: .service)
    }
}

/// An error of stored keys as JSON: `code` and `reason`.
extension OfflineError: Codable {
    private enum Key: String, CodingKey { case code, reason }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            Diagnosis.Kind(rawValue: try values.decode(String.self, forKey: .code)),
            try values.decode(String.self, forKey: .reason))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(code, forKey: .code)
        try values.encode(reason, forKey: .reason)
    }
}
