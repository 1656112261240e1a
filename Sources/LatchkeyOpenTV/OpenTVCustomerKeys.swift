#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    #if canImport(OPYSDKFPSTv)
        public import OPYSDKFPSTv
    #else
        public import OPYSDKFPS
    #endif
    public import Foundation
    @_spi(Adapters) public import Latchkey

    /// Delivers keys to NAGRA CONNECT's players from the app's own session service: the callback of `customer-ssm`.
    ///
    ///     let delegate = OTVCustomerSSMDelegate(certificate: certificate)
    ///     delegate.setCallback(OpenTVCustomerKeys(app, onFailure: show))
    ///     OTVDRMManager.shared.setLicenseDelegate(delegate)
    ///
    /// It is created from the app's `CustomerSessionCallbacks` instead of a loader, because here the app talks to its service;
    /// with a `LoaderCustomerSession` a loader does. The app opens its session before playback and ends it after, so there is
    /// no `release()`. The SDK requests renewals and heartbeats when the last license states them. A call blocks its own
    /// thread until there is a license, or until the deadline. Without a license the SDK gets `nil`, and only `onFailure`
    /// receives the reason. A call on the main thread or in a task does not wait and gets no license. Safe to use from any
    /// thread. Source: `Documentation/Players.md` §6, `Documentation/Vendors/NAGRA.md` §3.
    ///
    /// The SDK continues to play after a failed heartbeat, but NAGRA's guide requires playback to stop. `stopping` does that:
    ///
    ///     OpenTVCustomerKeys(app, stopping: .after(3) { player.pause() }, onFailure: show)
    public nonisolated final class OpenTVCustomerKeys: NSObject, Sendable {
        private let app: any CustomerSessionCallbacks
        private let deadline: Duration
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let failures: FailureCount
        /// Waits for heartbeats, one at a time.
        let queue = DispatchQueue(label: "latchkey.opentv.heartbeat")
        private let permits = DispatchSemaphore(value: 2)

        /// - Parameters:
        ///   - app: Gets licenses and keeps the session alive; a `LoaderCustomerSession` gets licenses from a loader.
        ///   - deadline: The maximum duration of a license request or a heartbeat. Defaults to 35 s.
        ///   - stopping: Ends playback when the session is lost. Defaults to `never`.
        ///   - onFailure: Receives the reason that there is no license or that a heartbeat failed, and problems with a
        ///     license's period; the key's URI is unknown. Called on any thread, which it must not block.
        public init(
            _ app: some CustomerSessionCallbacks, deadline: Duration = .seconds(35), stopping: OpenTVStop = .never,
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.app = app
            self.deadline = deadline
            failures = FailureCount(stopping)
            self.onFailure = onFailure
            super.init()
        }

        private func wait<Value: Sendable>(
            _ stage: ContentKeyError.Stage, for body: @escaping @Sendable () async throws -> Value
        ) -> Value? {
            let result = BlockedReply.wait(atMost: deadline, stage, for: body)
            switch result {
            case .success(let value):
                failures.reset()
                return value
            case .failure(let error):
                onFailure(KeyFailure(error))
                failures.add()
                return nil
            }
        }
    }

    nonisolated extension OpenTVCustomerKeys: OTVCustomerSSMCallback {
        public func license(
            keySystem: String, payload: Data, licenseType: OTVLicenseRequestType
        ) -> OTVSSMLicenseResponse {
            // Compared here: an imported enum need not be Sendable.
            let type = licenseType == .renewal ? CustomerLicenseType.renewal : .request
            let license = wait(.license) { [app] in
                let license = try await app.license(keySystem: keySystem, payload: payload, type: type)
                try License(ckc: Secret(license.ckc)).check(from: CustomerLicense.origin)
                return license
            }
            guard let license else { return OTVSSMLicenseResponse() }
            if let flaw = license.flaw { onFailure(KeyFailure(flaw)) }
            return OTVSSMLicenseResponse(
                license: license.ckc, heartbeat: max(0, license.heartbeat),
                renewType: license.renewType == .heartbeat ? .heartbeat : .enforced)
        }

        /// Returns immediately. While a heartbeat is in progress, the next one waits, and further ones are skipped.
        public func heartbeat() {
            guard permits.wait(timeout: .now()) == .success else { return }
            queue.async { [self] in
                _ = wait(.heartbeat) { [app] in try await app.heartbeat() }
                permits.signal()
            }
        }
    }

    nonisolated extension CustomerLicense {
        /// The source of an app's license.
        fileprivate static let origin = ValueOrigin.callback("license callback")

        /// The reason that the session will end unnoticed although the license is valid; `nil` if there is no problem.
        fileprivate var flaw: ContentKeyError? {
            // Renewals of the license may have any period, or none.
            guard renewType == .heartbeat || heartbeat < 0,
                let flaw = Self.origin.flaw(ofHeartbeat: Double(heartbeat))
            else { return nil }
            return ContentKeyError(flaw.kind, stage: .heartbeat, flaw.reason, remedy: flaw.remedy)
        }
    }
#endif
