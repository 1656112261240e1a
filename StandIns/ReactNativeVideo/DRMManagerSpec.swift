public import AVFoundation

/// Provides the keys of one source, as the delegate of the source's key session.
public protocol DRMManagerSpec: AVContentKeySessionDelegate {
    func createContentKeyRequest(for asset: AVURLAsset, drmParams: NativeDrmParams) throws
}

/// A script's statements about a source's keys.
public struct NativeDrmParams {
    public var type: String?
    public var licenseUrl: String?
    public var certificateUrl: String?
    public var contentId: String?
    public var licenseHeaders: [String: String]?
    public var multiSession: Bool?
    public var getLicense: ((_ payload: OnGetLicensePayload) -> Promise<Promise<String>>)?

    public init(
        type: String?, licenseUrl: String?, certificateUrl: String?, contentId: String?,
        licenseHeaders: [String: String]?, multiSession: Bool?,
        getLicense: ((_ payload: OnGetLicensePayload) -> Promise<Promise<String>>)?
    ) {
        self.type = type
        self.licenseUrl = licenseUrl
        self.certificateUrl = certificateUrl
        self.contentId = contentId
        self.licenseHeaders = licenseHeaders
        self.multiSession = multiSession
        self.getLicense = getLicense
    }
}

/// The data that a script needs to return a license.
public struct OnGetLicensePayload: Sendable {
    public let contentId: String
    public let licenseUrl: String
    public let keyUrl: String
    /// The SPC in base64.
    public let spc: String

    public init(contentId: String, licenseUrl: String, keyUrl: String, spc: String) {
        self.contentId = contentId
        self.licenseUrl = licenseUrl
        self.keyUrl = keyUrl
        self.spc = spc
    }
}
