#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    public import Foundation
    @_spi(Adapters) public import Latchkey

    /// An app's callbacks for `customer-ssm` with licenses from a loader, for a gateway that a profile or an integration describes.
    ///
    ///     let app = LoaderCustomerSession(loader, key: "skd://movie-1", every: 30) { try await gateway.heartbeat() }
    ///
    /// The heartbeat, if given, keeps the session alive. Otherwise renewals of the license do, at the stated period, or before the
    /// license's lease ends. The app opens and ends the session.
    public nonisolated struct LoaderCustomerSession: CustomerSessionCallbacks {
        private let loader: ContentKeyLoader
        private let key: @Sendable () -> KeyURI
        private let asset: @Sendable () -> AssetID?
        private let period: Int
        private let beat: (@Sendable () async throws -> Void)?

        /// - Parameters:
        ///   - loader: gets the licenses, with its own retries, credentials and hosts.
        ///   - key: the URI of the requested key. The callback does not receive it; the SPC already contains the content identifier.
        ///   - asset: the title of that key, for credentials and events. Defaults to `nil`: unknown.
        ///   - period: the session's keep-alive period in seconds. Defaults to 0: derived from the lease.
        ///   - heartbeat: keeps the session alive.
        public init(
            _ loader: ContentKeyLoader, key: @escaping @autoclosure @Sendable () -> KeyURI,
            asset: @escaping @autoclosure @Sendable () -> AssetID? = nil, every period: Int = 0,
            heartbeat: (@Sendable () async throws -> Void)? = nil
        ) {
            self.loader = loader
            self.key = key
            self.asset = asset
            self.period = period
            beat = heartbeat
        }

        public func license(
            keySystem: String, payload: Data, type: CustomerLicenseType
        ) async throws -> CustomerLicense {
            let license = try await loader.license(
                for: SPCMessage(payload), key: key(), purpose: type == .renewal ? .renewal : .streaming, asset: asset())
            return CustomerLicense(
                ckc: license.ckc.revealed, heartbeat: period == 0 ? leasePeriod(of: license) : period,
                renewType: beat == nil ? .enforced : .heartbeat)
        }

        public func heartbeat() async throws { try await beat?() }

        /// The seconds until the license has to be renewed; 0 for never.
        private func leasePeriod(of license: License) -> Int {
            guard beat == nil, let delay = loader.renewalDelay(after: license) else { return 0 }
            return max(1, Int(min(delay, .seconds(Self.longestPeriod)).components.seconds))
        }

        /// A year.
        private static let longestPeriod = 31_536_000
    }
#endif
