public import Foundation

/// An app's statements about the protection of a stream.
public protocol DRMConfiguration: Decodable, Encodable {
    var headers: [[String: String]]? { get }
    var integrationParameters: [String: Any]? { get }
    var integration: DRMIntegration? { get }
    var customIntegrationId: String? { get }
    /// From version 10 on.
    var queryParameters: [String: String]? { get }
}

/// A service with an integration in the player. The names are those of the published reference; the numbers are inferred.
public enum DRMIntegration: Int, Codable {
    case axinom, azure, drmtoday, ezdrm, irdeto, keyos, theoplayer, titanium, uplynk, verimatrix, vudrm, xstream
}

/// An app's statements about FairPlay.
public protocol FairPlayDRMConfigurationProtocol: DRMConfiguration {
    var fairplay: KeySystemConfiguration { get }
}

/// A key system.
public enum KeySystemId: Int, Codable {
    case WIDEVINE, FAIRPLAY, PLAYREADY
}

/// Whether a license is persistent.
public enum LicenseType: Int, Codable {
    case temporary, persistent
}

/// An app's statements about one key system.
open class KeySystemConfiguration: NSObject, Codable {
    public var licenseAcquisitionURL: URL?
    public var certificateURL: URL?
    public var licenseType: LicenseType?
    public var headers: [String: String]?
    /// From version 10 on.
    public let queryParameters: [String: String]?

    public init(
        licenseAcquisitionURL: String? = nil, certificateURL: String? = nil, licenseType: LicenseType? = nil,
        headers: [String: String]? = nil, queryParameters: [String: String]? = nil
    ) {
        self.licenseAcquisitionURL = licenseAcquisitionURL.flatMap { URL(string: $0) }
        self.certificateURL = certificateURL.flatMap { URL(string: $0) }
        self.licenseType = licenseType
        self.headers = headers
        self.queryParameters = queryParameters
    }
}

/// An app's statements about several key systems.
public final class KeySystemConfigurationCollection: NSObject, Codable {
    let fairplay: KeySystemConfiguration?
    let widevine: KeySystemConfiguration?
    let commonHeaders: [String: String]

    public init(
        fairplay: KeySystemConfiguration? = nil, widevine: KeySystemConfiguration? = nil,
        commonHeaders: [String: String] = [:]
    ) {
        self.fairplay = fairplay
        self.widevine = widevine
        self.commonHeaders = commonHeaders
    }
}
