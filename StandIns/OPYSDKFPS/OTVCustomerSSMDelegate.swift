public import Foundation
import LatchkeyCore

/// Lets an app handle licenses and heartbeats itself.
public final class OTVCustomerSSMDelegate: NSObject, OTVLicenseDelegate {
    private let applicationCertificate: Data
    private let lock = NSLock()
    private var held: (any OTVCustomerSSMCallback)?

    public init(certificate: Data) { applicationCertificate = certificate }

    /// Sets the handler. Held strongly (inferred from the documented sample).
    public func setCallback(_ callback: any OTVCustomerSSMCallback) { lock.withLock { held = callback } }

    var callback: (any OTVCustomerSSMCallback)? { lock.withLock { held } }

    public func scheme() -> String? { "skd" }
    public func certificate() -> Data? { applicationCertificate }

    /// The asset name in a key's URL: base64 before the first slash or query. Without one, the URL itself.
    public func contentIdentifier(url: URL) -> Data? { AssetName.bytes(KeyURI(url.absoluteString)) }
}

/// Handles licenses and heartbeats for the SDK, on a thread of the SDK that it may block.
public protocol OTVCustomerSSMCallback: NSObjectProtocol {
    func license(keySystem: String, payload: Data, licenseType: OTVLicenseRequestType) -> OTVSSMLicenseResponse
    func heartbeat()
}

/// Whether a license request is the first one or a later one.
public enum OTVLicenseRequestType: Int {
    case request
    case renewal
}

/// The keep-alive method of a session. The order of the cases is inferred.
public enum OTVLicenseRenewType: Int {
    case heartbeat
    case enforced
}

/// A license, and the keep-alive method of its session.
public final class OTVSSMLicenseResponse: NSObject {
    /// The CKC; `nil` on failure.
    public var licence: Data?
    /// The period of heartbeats or renewals, in seconds; 0 for none (inferred).
    public var heartbeat: Int
    let renewType: OTVLicenseRenewType

    public init(license: Data? = nil, heartbeat: Int = 0, renewType: OTVLicenseRenewType = .enforced) {
        licence = license
        self.heartbeat = heartbeat
        self.renewType = renewType
    }
}

/// The SDK's rules for asset names.
enum AssetName {
    static func bytes(_ uri: KeyURI) -> Data {
        let host = String(uri.remainder.prefix { !"/?".contains($0) })
        let padded = host.padding(toLength: (host.utf8.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        // Base64 decodes any host with suitable letters, but names are printable.
        guard let name = Data(base64Encoded: padded), !name.isEmpty, name.allSatisfy({ (32..<127).contains($0) })
        else { return Data(uri.raw.utf8) }
        return name
    }
}
