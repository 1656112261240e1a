#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    public import Foundation

    /// The app's two callbacks of `customer-ssm`, called on no particular isolation.
    ///
    /// Source: `Documentation/Vendors/NAGRA.md` §3.
    public nonisolated protocol CustomerSessionCallbacks: Sendable {
        /// Gets a license from the app's service.
        /// - Parameters:
        ///   - keySystem: FairPlay's key system id, a GUID.
        ///   - payload: The SPC; secret.
        ///   - type: Whether the key is asked for or renewed.
        /// - Throws: An error that ends the key request.
        func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense

        /// Keeps the session alive.
        /// - Throws: Why it failed, which `onFailure` gets. The SDK plays on, and the next heartbeat is sent; `stopping: .after(_:)` ends
        ///   playback after some failures in a row.
        func heartbeat() async throws
    }

    /// Why the app is asked for a license.
    public nonisolated enum CustomerLicenseType: Int, Sendable, Hashable {
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
    public nonisolated struct CustomerLicense: Sendable {
        /// What keeps the session alive when its period has passed.
        public enum Renewal: Sendable, Hashable {
            /// A call of `heartbeat()`.
            case heartbeat
            /// A renewal of the license.
            case enforced
        }

        let ckc: Data
        let heartbeat: Int
        let renewType: Renewal

        /// Makes a license.
        /// - Parameters:
        ///   - ckc: The CKC, ready for the player: its bytes, in no encoding.
        ///   - heartbeat: How often the session is to be kept alive, in seconds. Defaults to 0: never.
        ///   - renewType: What keeps it alive. Defaults to renewals of the license.
        public init(ckc: Data, heartbeat: Int = 0, renewType: Renewal = .enforced) {
            self.ckc = ckc
            self.heartbeat = heartbeat
            self.renewType = renewType
        }
    }
#endif
