public import Foundation
@_spi(Integrations) public import LatchkeyVendors

/// The app's two callbacks of `customer-ssm`, called on no particular isolation.
///
/// Source: `Documentation/Vendors/NAGRA.md` §3.
public protocol CustomerSessionCallbacks: Sendable {
    /// Gets a license from the app's service.
    /// - Parameters:
    ///   - keySystem: FairPlay's key system id, a GUID.
    ///   - payload: the SPC; secret.
    ///   - type: whether the key is asked for or renewed.
    /// - Throws: an error that ends the key request.
    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense

    /// Keeps the session alive.
    /// - Throws: an error that ends the session: there are no more heartbeats, and the player has to stop. An app that handles a
    ///   failed heartbeat itself does not throw.
    func heartbeat() async throws
}

/// Why the app is asked for a license.
public enum CustomerLicenseType: Int, Sendable, Hashable {
    /// The player wants a key.
    case request
    /// The session lives by license renewals, and one is due.
    case renewal

    /// The word that NAGRA's guide has for it, for a gateway that expects it: `license-request` or `license-renew`.
    ///
    /// Source: `Documentation/Vendors/NAGRA.md` §3.
    public var word: String {
        switch self {
        case .request: "license-request"
        case .renewal: "license-renew"
        }
    }
}

/// What the app's license callback gives.
public struct CustomerLicense: Sendable {
    /// The CKC, ready for the player.
    @_spi(Adapters) public var ckc: Data
    /// How often the session is to be kept alive, in seconds; 0 for never.
    @_spi(Adapters) public var heartbeat: Int
    /// What keeps the session alive.
    @_spi(Adapters) public var renewType: SessionRenewal

    /// Makes a license.
    public init(ckc: Data, heartbeat: Int = 0, renewType: SessionRenewal = .enforced) {
        self.ckc = ckc
        self.heartbeat = heartbeat
        self.renewType = renewType
    }
}
