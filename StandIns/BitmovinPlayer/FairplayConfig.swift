public import Foundation

/// How a source's keys are protected.
open class DrmConfig: NSObject, @unchecked Sendable {
    /// The URL of the license service.
    public let licenseUrl: URL?

    init(license: URL?) { licenseUrl = license }
}

/// How the player gets keys. The closures change what the player's own HTTP sends and receives, and must return at once. The app
/// sets it up before a source uses it.
// Sound: it is set up before a source takes it, and only read from there on.
open class FairplayConfig: DrmConfig, @unchecked Sendable {
    public var certificateUrl: URL?
    public var licenseRequestHeaders: [String: String]?
    public var certificateRequestHeaders: [String: String]?
    public var prepareMessage: ((_ spcData: Data, _ assetID: String) -> Data)?
    /// Receives the key's URI.
    public var prepareContentId: ((_ contentId: String) -> String)?
    public var prepareCertificate: ((_ certificate: Data) -> Data)?
    public var prepareLicense: ((_ ckc: Data) -> Data)?
    public var prepareLicenseServerUrl: ((_ licenseServerUrl: String) -> String)?
    public var prepareSyncMessage: ((_ syncSpcData: Data, _ assetID: String) -> Data)?

    public init(license: URL?, certificateURL: URL) {
        certificateUrl = certificateURL
        super.init(license: license)
    }
}
