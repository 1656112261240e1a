#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    #if canImport(OPYSDKFPSTv)
        public import OPYSDKFPSTv
    #else
        public import OPYSDKFPS
    #endif
    public import Foundation
    @_spi(Adapters) public import Latchkey

    /// Gives NAGRA CONNECT's players their keys from the app's own session service: the callback of `customer-ssm`.
    ///
    ///     let delegate = OTVCustomerSSMDelegate(certificate: certificate)
    ///     delegate.setCallback(OpenTVCustomerKeys(app, onFailure: show))
    ///     OTVDRMManager.shared.setLicenseDelegate(delegate)
    ///
    /// It is made from the app's `CustomerSessionCallbacks`, because there the app speaks to its service, and not a loader; with a
    /// `LoaderCustomerSession` a loader does. The app opens its session before playback and ends it after, so there is no `release()`. The SDK
    /// asks for renewals and heartbeats when the last license says so. It blocks a thread of its own until there is a license, or until the
    /// deadline. Without a license it gets `nil`, and only `onFailure` is told why. On the main thread and in tasks nothing waits: there is
    /// no license then. Safe to use from any thread. Source: `Documentation/Players.md` §6, `Documentation/Vendors/NAGRA.md` §3.
    ///
    /// The SDK plays on after a failed heartbeat, but NAGRA's guide wants playback to stop. `stopping` does that:
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
        ///   - deadline: How long a license or a heartbeat may take. Defaults to 35 s.
        ///   - stopping: Ends playback when the session is lost. Defaults to `never`.
        ///   - onFailure: Takes why there is no license, why a heartbeat failed, and, beside a license, what is wrong with its period; the
        ///     key's URI is not known. Called on any thread, which it must not block.
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
                try License(ckc: Secret(license.ckc)).check(givenBy: "The license callback")
                return license
            }
            guard let license else { return OTVSSMLicenseResponse() }
            if let flaw = license.flaw { onFailure(KeyFailure(flaw)) }
            return OTVSSMLicenseResponse(
                license: license.ckc, heartbeat: max(0, license.heartbeat),
                renewType: license.renewType == .heartbeat ? .heartbeat : .enforced)
        }

        /// Returns at once. While a heartbeat is under way, the next one waits, and further ones are skipped.
        public func heartbeat() {
            guard permits.wait(timeout: .now()) == .success else { return }
            queue.async { [self] in
                _ = wait(.heartbeat) { [app] in try await app.heartbeat() }
                permits.signal()
            }
        }
    }

    nonisolated extension CustomerLicense {
        /// Why the session will end unseen, although the license is right; `nil` if nothing is wrong.
        fileprivate var flaw: ContentKeyError? {
            let fault: String? =
                switch heartbeat {
                case ..<0: "a negative period keeps no session alive."
                case 0 where renewType == .heartbeat: "with 0, heartbeat() is never called."
                case Self.longestPeriod... where renewType == .heartbeat: "milliseconds were probably meant."
                default: nil
                }
            return fault.map {
                ContentKeyError(
                    .sessionMalformed, stage: .heartbeat,
                    "The license callback gave the heartbeat \(heartbeat): \($0)",
                    remedy: "Give the period in seconds; with renewType .heartbeat it is above 0.")
            }
        }

        /// In seconds, for heartbeats; above it the number is taken for milliseconds.
        private static let longestPeriod = 10_000
    }
#endif
