public import AVFoundation
import Foundation
import LatchkeyCore

/// Provides tokens for sessions.
public protocol OTVSSPTokenCallback: NSObjectProtocol {
    func token() -> String?
}

/// Requests licenses in sessions that the SDK sets up itself.
open class OTVSSPLicenseDelegate: NSObject, OTVLicenseDelegate {
    private let inner: Fields
    private let ssmServerURL: URL
    private let blocks: Bool
    private let lock = NSLock()
    private var tokens: (any OTVSSPTokenCallback)?

    /// - Parameter syncSSMSetupTeardown: whether setup and teardown block the calling thread.
    public init(certificateURL: URL, licenseURL: URL, ssmServerURL: URL, syncSSMSetupTeardown: Bool) {
        inner = Fields(certificateURL: certificateURL, licenseURL: licenseURL)
        self.ssmServerURL = ssmServerURL
        blocks = syncSSMSetupTeardown
    }

    /// Sets up a session for a stream with a token. Posts a notification on failure.
    public func setStream(
        token: String, with url: URL, success: @escaping () -> Void, failure: @escaping () -> Void
    ) {
        inner.fields.withLock { $0["nv-authorizations"] = token }
        // Sound: called once, on the thread that set up the session, as in the SDK.
        nonisolated(unsafe) let success = success
        nonisolated(unsafe) let failure = failure
        run { [post = poster] in
            if post("setup") != nil { return success() }
            let error = OTVLicenseFailure.error("The session was not set up.")
            OTVLicenseFailure.post(.OTVSSMSetupErrorNotification, error)
            failure()
        }
    }

    /// Sets the provider of a fresh token for each license.
    public func setToken(sspTokenCallback: any OTVSSPTokenCallback) { lock.withLock { tokens = sspTokenCallback } }

    /// Tears the session down.
    public func removeStream() {
        run { [post = poster] in
            guard post("teardown") == nil else { return }
            OTVLicenseFailure.post(
                .OTVSSMTeardownErrorNotification, OTVLicenseFailure.error("The session was not torn down."))
        }
    }

    public func scheme() -> String? { inner.scheme() }
    public func contentIdentifier(url: URL) -> Data? { inner.contentIdentifier(url: url) }
    public func certificate() -> Data? { inner.certificate() }
    public func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
        let tokens = lock.withLock { self.tokens }
        if let token = tokens?.token() { inner.fields.withLock { $0["nv-authorizations"] = token } }
        return inner.ckcMessageWithID(spc: spc, assetID: assetID)
    }

    private var poster: @Sendable (String) -> Data? {
        { [inner, ssmServerURL] path in
            BlockingHTTP.send(
                "POST", ssmServerURL.appending(path: path), headers: inner.fields.withLock { $0 }, body: Data())
        }
    }

    private func run(_ work: @escaping @Sendable () -> Void) {
        if blocks { work() } else { Thread.detachNewThread(work) }
    }
}

/// From version 5.13 on. Setup and teardown never block.
open class OTVSSPLicenseDelegateV2: OTVSSPLicenseDelegate {
    public init(certificateURL: URL, licenseURL: URL, ssmServerURL: URL) {
        super.init(
            certificateURL: certificateURL, licenseURL: licenseURL, ssmServerURL: ssmServerURL,
            syncSSMSetupTeardown: false)
    }
}
