public import Foundation

/// An app's statements about FairPlay. In versions 4 to 9, the initializer has fewer defaults.
public final class FairPlayDRMConfiguration: NSObject, FairPlayDRMConfigurationProtocol {
    private enum CodingKeys: String, CodingKey {
        case fairplay, headers, customIntegrationId, queryParameters, integrationParameters
    }

    public var fairplay: KeySystemConfiguration
    public let headers: [[String: String]]?
    public let integrationParameters: [String: Any]?
    public let integration: DRMIntegration? = nil
    public let customIntegrationId: String?
    public let queryParameters: [String: String]?

    public init(
        customIntegrationId: String? = nil, licenseAcquisitionURL: String? = nil, certificateURL: String? = nil,
        headers: [[String: String]]? = nil, licenseType: LicenseType? = nil,
        integrationParameters: [String: Any]? = nil, queryParameters: [String: String]? = nil
    ) {
        let fields = headers.map { $0.reduce(into: [:]) { $0.merge($1) { _, last in last } } }
        fairplay = KeySystemConfiguration(
            licenseAcquisitionURL: licenseAcquisitionURL, certificateURL: certificateURL, licenseType: licenseType,
            headers: fields, queryParameters: queryParameters)
        self.headers = headers
        self.integrationParameters = integrationParameters
        self.customIntegrationId = customIntegrationId
        self.queryParameters = queryParameters
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fairplay = try container.decode(KeySystemConfiguration.self, forKey: .fairplay)
        headers = try container.decodeIfPresent([[String: String]].self, forKey: .headers)
        customIntegrationId = try container.decodeIfPresent(String.self, forKey: .customIntegrationId)
        queryParameters = try container.decodeIfPresent([String: String].self, forKey: .queryParameters)
        let parameters = try container.decodeIfPresent(Data.self, forKey: .integrationParameters)
        integrationParameters = try JSONParameters.decode(parameters)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(fairplay, forKey: .fairplay)
        try container.encodeIfPresent(headers, forKey: .headers)
        try container.encodeIfPresent(customIntegrationId, forKey: .customIntegrationId)
        try container.encodeIfPresent(queryParameters, forKey: .queryParameters)
        try container.encodeIfPresent(
            JSONParameters.encode(integrationParameters), forKey: .integrationParameters)
    }
}

/// An app's statements about several key systems.
public final class MultiplatformDRMConfiguration: NSObject, DRMConfiguration {
    private enum CodingKeys: String, CodingKey {
        case keySystemConfigurations, customIntegrationId, queryParameters, integrationParameters
    }

    public let headers: [[String: String]]? = nil
    public let integrationParameters: [String: Any]?
    public let integration: DRMIntegration? = nil
    public let customIntegrationId: String?
    public let queryParameters: [String: String]?
    let keySystemConfigurations: KeySystemConfigurationCollection

    public convenience init(keySystemConfigurations: KeySystemConfigurationCollection) {
        self.init(customIntegrationId: "", keySystemConfigurations: keySystemConfigurations)
    }

    public init(
        customIntegrationId: String, integrationParameters: [String: Any] = [:],
        keySystemConfigurations: KeySystemConfigurationCollection, queryParameters: [String: String]? = nil
    ) {
        self.customIntegrationId = customIntegrationId.isEmpty ? nil : customIntegrationId
        self.integrationParameters = integrationParameters
        self.keySystemConfigurations = keySystemConfigurations
        self.queryParameters = queryParameters
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keySystemConfigurations = try container.decode(
            KeySystemConfigurationCollection.self, forKey: .keySystemConfigurations)
        customIntegrationId = try container.decodeIfPresent(String.self, forKey: .customIntegrationId)
        queryParameters = try container.decodeIfPresent([String: String].self, forKey: .queryParameters)
        let parameters = try container.decodeIfPresent(Data.self, forKey: .integrationParameters)
        integrationParameters = try JSONParameters.decode(parameters)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(keySystemConfigurations, forKey: .keySystemConfigurations)
        try container.encodeIfPresent(customIntegrationId, forKey: .customIntegrationId)
        try container.encodeIfPresent(queryParameters, forKey: .queryParameters)
        try container.encodeIfPresent(
            JSONParameters.encode(integrationParameters), forKey: .integrationParameters)
    }
}

/// Parameters of any type, as JSON inside the encoded form.
private enum JSONParameters {
    static func encode(_ parameters: [String: Any]?) throws -> Data? {
        try parameters.map { try JSONSerialization.data(withJSONObject: $0) }
    }

    static func decode(_ data: Data?) throws -> [String: Any]? {
        try data.flatMap { try JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }
}
