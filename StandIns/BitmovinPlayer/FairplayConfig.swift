public import Foundation

/// How a source's keys are protected.
open class DrmConfig: NSObject, @unchecked Sendable {
    /// Where licenses come from.
    public let licenseUrl: URL?

    init(license: URL?) { licenseUrl = license }
}

/// How keys are got: the closures change what the player's own HTTP sends and takes. They return at once.
// Sound: it is set up before a source takes it, and only read from there on.
public final class FairplayConfig: DrmConfig, @unchecked Sendable {
    public var certificateUrl: URL?
    public var licenseRequestHeaders: [String: String]?
    public var certificateRequestHeaders: [String: String]?
    public var prepareMessage: ((_ spcData: Data, _ assetID: String) -> Data)?
    /// The argument is the key's URI.
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
