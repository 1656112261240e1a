#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    #if canImport(OPYSDKFPSTv)
        public import OPYSDKFPSTv
    #else
        public import OPYSDKFPS
    #endif
    public import Foundation
    import LatchkeyCore

    /// Connects NAGRA CONNECT's players with an app that speaks to its own session service: the SDK's side of `customer-ssm`.
    ///
    ///     let delegate = OTVCustomerSSMDelegate(certificate: certificate)
    ///     delegate.setCallback(OpenTVCustomerCallback(app) { error in report(error) })
    ///     OTVDRMManager.shared.setLicenseDelegate(delegate)
    ///
    /// The app opens its session before, and ends it after; its code is async and may throw. The SDK keeps time: it asks for
    /// renewals and heartbeats as the last license says. It blocks a thread of its own until there is a license, or until the
    /// deadline. No license is nil to it, and why is said to `onError`. On the main thread, and in tasks, nothing waits: there is no
    /// license. Safe to use from any thread. Source: `player-apis.md` §6, `vendors.md` §9.3.
    public final class OpenTVCustomerCallback: NSObject, Sendable {
        private let app: any CustomerSessionCallbacks
        private let deadline: Duration
        private let onError: @Sendable (NSError) -> Void
        /// Waits for heartbeats, one at a time.
        private let queue = DispatchQueue(label: "latchkey.opentv.heartbeat")
        private let turn = DispatchSemaphore(value: 1)

        /// - Parameters:
        ///   - app: gets licenses and keeps the session alive; a `LoaderCustomerSession` gets licenses from a loader.
        ///   - deadline: how long a license or a heartbeat may take; 35 s unless given.
        ///   - onError: hears why there is no license, or that a heartbeat failed, which should stop playback; called on any
        ///     thread, which it must not block.
        public init(
            _ app: some CustomerSessionCallbacks, deadline: Duration = .seconds(35),
            onError: @escaping @Sendable (NSError) -> Void
        ) {
            self.app = app
            self.deadline = deadline
            self.onError = onError
            super.init()
        }

        private func wait<Value: Sendable>(
            _ stage: ContentKeyError.Stage, for body: @escaping @Sendable () async throws -> Value
        ) -> Value? {
            let result = BlockedReply.wait(atMost: deadline, stage, for: body)
            if case .failure(let error) = result, error.kind != .cancelled { onError(error.nsError) }
            return try? result.get()
        }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension OpenTVCustomerCallback: OTVCustomerSSMCallback {
        public func license(
            keySystem: String, payload: Data, licenseType: OTVLicenseRequestType
        ) -> OTVSSMLicenseResponse {
            let type = licenseType == .renewal ? CustomerLicenseType.renewal : .request
            let license = wait(.license) { [app] in
                let license = try await app.license(keySystem: keySystem, payload: payload, type: type)
                guard !license.ckc.isEmpty else { throw ContentKeyError.emptyLicense }
                return license
            }
            guard let license else { return OTVSSMLicenseResponse() }
            return OTVSSMLicenseResponse(
                license: license.ckc, heartbeat: max(0, license.heartbeat),
                renewType: license.renewType == .heartbeat ? .heartbeat : .enforced)
        }

        /// Returns at once. A heartbeat that comes while another is under way is left out.
        public func heartbeat() {
            guard turn.wait(timeout: .now()) == .success else { return }
            queue.async { [self] in
                _ = wait(.heartbeat) { [app] in try await app.heartbeat() }
                turn.signal()
            }
        }
    }

    extension ContentKeyError {
        fileprivate static let emptyLicense = ContentKeyError(
            .init(rawValue: IntegrationError.Kind.licenseMalformed.rawValue), stage: .license,
            "The license callback gave an empty CKC.", remedy: "Return the CKC, or throw what went wrong.")
    }
#endif
