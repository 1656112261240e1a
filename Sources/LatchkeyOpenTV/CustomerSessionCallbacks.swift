#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    public import Foundation

    /// The app's two callbacks for `customer-ssm`, called without a particular isolation.
    ///
    /// Source: `Documentation/Vendors/NAGRA.md` §3.
    public nonisolated protocol CustomerSessionCallbacks: Sendable {
        /// Gets a license from the app's service.
        /// - Parameters:
        ///   - keySystem: FairPlay's key system id, a GUID.
        ///   - payload: The SPC; secret.
        ///   - type: Whether this is the first request or a renewal.
        /// - Throws: An error that ends the key request.
        func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense

        /// Keeps the session alive.
        /// - Throws: The reason for the failure, which `onFailure` receives. The SDK continues to play, and the next heartbeat
        ///   is sent; `stopping: .after(_:)` ends playback after several consecutive failures.
        func heartbeat() async throws
    }

    /// The reason for a license request.
    public nonisolated enum CustomerLicenseType: Int, Sendable, Hashable {
        /// The player needs a key.
        case request
        /// License renewals keep the session alive, and one is due.
        case renewal

        /// The term in NAGRA's guide, for a gateway that expects it: `license-request` or `license-renew`.
        ///
        /// Source: `Documentation/Vendors/NAGRA.md` §3.
        public var word: String {
            switch self {
            case .request: "license-request"
            case .renewal: "license-renew"
            }
        }
    }

    /// The result of the app's license callback.
    public nonisolated struct CustomerLicense: Sendable {
        /// The action that keeps the session alive when its period has passed.
        public enum Renewal: Sendable, Hashable {
            /// A call of `heartbeat()`.
            case heartbeat
            /// A renewal of the license.
            case enforced
        }

        let ckc: Data
        let heartbeat: Int
        let renewType: Renewal

        /// Creates a license.
        /// - Parameters:
        ///   - ckc: The CKC's bytes, without any encoding.
        ///   - heartbeat: The session's keep-alive period in seconds. Defaults to 0: never.
        ///   - renewType: The keep-alive action. Defaults to license renewals.
        public init(ckc: Data, heartbeat: Int = 0, renewType: Renewal = .enforced) {
            self.ckc = ckc
            self.heartbeat = heartbeat
            self.renewType = renewType
        }
    }
#endif
