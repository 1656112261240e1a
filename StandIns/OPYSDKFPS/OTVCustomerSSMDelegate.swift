public import Foundation
import LatchkeyCore

/// Lets an app do licenses and heartbeats itself.
// Sound: what changes is behind a lock; callbacks are called from any thread in the real SDK as well.
public final class OTVCustomerSSMDelegate: NSObject, OTVLicenseDelegate, @unchecked Sendable {
    private let applicationCertificate: Data
    private let lock = NSLock()
    private var held: (any OTVCustomerSSMCallback)?

    public init(certificate: Data) { applicationCertificate = certificate }

    /// Sets who does it. Held strongly (inferred from the documented sample).
    public func setCallback(_ callback: any OTVCustomerSSMCallback) { lock.withLock { held = callback } }

    var callback: (any OTVCustomerSSMCallback)? { lock.withLock { held } }

    public func scheme() -> String? { "skd" }
    public func certificate() -> Data? { applicationCertificate }

    /// The asset that a key's URL names in base64 before its first slash or query; the URL itself where it names none.
    public func contentIdentifier(url: URL) -> Data? { AssetName.bytes(KeyURI(url.absoluteString)) }
}

/// Does licenses and heartbeats for the SDK, on a thread of the SDK's, which may be blocked.
public protocol OTVCustomerSSMCallback: NSObjectProtocol {
    func license(keySystem: String, payload: Data, licenseType: OTVLicenseRequestType) -> OTVSSMLicenseResponse
    func heartbeat()
}

/// Whether a license is the first of its kind.
public enum OTVLicenseRequestType: Int, Sendable {
    case request
    case renewal
}

/// What keeps a session alive. The order is inferred.
public enum OTVLicenseRenewType: Int, Sendable {
    case heartbeat
    case enforced
}

/// A license, and how its session is kept alive.
public final class OTVSSMLicenseResponse: NSObject {
    /// The CKC; nil is a failure.
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

/// What the SDK takes for an asset's name.
enum AssetName {
    static func bytes(_ uri: KeyURI) -> Data {
        let host = String(uri.remainder.prefix { !"/?".contains($0) })
        let padded = host.padding(toLength: (host.utf8.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        // Any host of the right letters can be decoded; names are printable.
        guard let name = Data(base64Encoded: padded), !name.isEmpty, name.allSatisfy({ (32..<127).contains($0) })
        else { return Data(uri.raw.utf8) }
        return name
    }
}
