public import Foundation

/// The protection of a source's keys.
open class DrmConfig: NSObject, @unchecked Sendable {
    /// The URL of the license service.
    public let licenseUrl: URL?

    init(license: URL?) { licenseUrl = license }
}

/// The player's key configuration. The closures change the requests and replies of the player's own HTTP, and must return
/// immediately. The app completes it before a source uses it.
// Sound: it is complete before a source uses it, and only read afterwards.
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
