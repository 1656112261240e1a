public import Foundation
public import LatchkeyCore
import LatchkeyVendors

/// An app's callbacks of `customer-ssm` with licenses from a loader: for a gateway that a profile or an integration describes.
///
///     let app = LoaderCustomerSession(loader, key: "skd://movie-1", every: 30) { try await gateway.heartbeat() }
///
/// A heartbeat keeps the session alive where one is given. Without it renewals of the license do, as often as said, or ahead of the
/// end of the license's lease. Opening and ending the session is the app's.
public struct LoaderCustomerSession: CustomerSessionCallbacks {
    private let loader: ContentKeyLoader
    private let key: @Sendable () -> KeyURI
    private let period: Int
    private let beat: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - loader: gets the licenses, with its own retries, credentials and hosts.
    ///   - key: the URI of the key that is asked for. The callback is not told it; the content identifier is in the SPC already.
    ///   - period: how often the session is to be kept alive, in seconds; 0, as unless given, for as often as the lease wants it.
    ///   - heartbeat: keeps the session alive.
    public init(
        _ loader: ContentKeyLoader, key: @escaping @autoclosure @Sendable () -> KeyURI, every period: Int = 0,
        heartbeat: (@Sendable () async throws -> Void)? = nil
    ) {
        self.loader = loader
        self.key = key
        self.period = period
        beat = heartbeat
    }

    public func license(
        keySystem: String, payload: Data, type: CustomerLicenseType
    ) async throws -> CustomerLicense {
        let license = try await loader.license(
            for: SPCMessage(payload), key: key(), purpose: type == .renewal ? .renewal : .streaming)
        return CustomerLicense(
            ckc: license.ckc.revealed, heartbeat: period > 0 ? period : leasePeriod(of: license),
            renewType: beat == nil ? .enforced : .heartbeat)
    }

    public func heartbeat() async throws { try await beat?() }

    /// The seconds until the license has to be renewed; 0 for never.
    private func leasePeriod(of license: License) -> Int {
        guard beat == nil, let delay = loader.held.renewal(after: license) else { return 0 }
        return max(1, Int(min(delay, .seconds(Self.longestPeriod)).components.seconds))
    }

    /// A year.
    private static let longestPeriod = 31_536_000
}
