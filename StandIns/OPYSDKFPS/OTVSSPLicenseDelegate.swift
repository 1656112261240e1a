public import AVFoundation
import Foundation
import LatchkeyCore

/// Gives tokens for sessions.
public protocol OTVSSPTokenCallback: NSObjectProtocol {
    func token() -> String?
}

/// Gets licenses in sessions that the SDK sets up itself.
// Sound: what changes is behind a lock.
open class OTVSSPLicenseDelegate: NSObject, OTVLicenseDelegate, @unchecked Sendable {
    private let inner: Fields
    private let ssmServerURL: URL
    private let blocks: Bool
    private let lock = NSLock()
    private var tokens: (any OTVSSPTokenCallback)?

    /// - Parameter syncSSMSetupTeardown: whether set-up and tear-down block the thread that asks for them.
    public init(certificateURL: URL, licenseURL: URL, ssmServerURL: URL, syncSSMSetupTeardown: Bool) {
        inner = Fields(certificateURL: certificateURL, licenseURL: licenseURL)
        self.ssmServerURL = ssmServerURL
        blocks = syncSSMSetupTeardown
    }

    /// Sets up a session with a token. The parameters are inferred.
    public func setStream(
        token: String, with parameters: [String: String] = [:], success: @escaping @Sendable () -> Void,
        failure: @escaping @Sendable (any Error) -> Void
    ) {
        inner.fields.withLock { $0["nv-authorizations"] = token }
        run { [self] in
            if post("setup") != nil { return success() }
            let error = OTVLicenseFailure.error("The session was not set up.")
            OTVLicenseFailure.post(.OTVSSMSetupErrorNotification, error)
            failure(error)
        }
    }

    /// Sets who gives a fresh token for each license.
    public func setToken(sspTokenCallback: any OTVSSPTokenCallback) { lock.withLock { tokens = sspTokenCallback } }

    /// Tears the session down.
    public func removeStream() {
        run { [self] in
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

    private func post(_ path: String) -> Data? {
        BlockingHTTP.send(
            "POST", ssmServerURL.appending(path: path), headers: inner.fields.withLock { $0 }, body: Data())
    }

    private func run(_ work: @escaping @Sendable () -> Void) {
        if blocks { work() } else { Thread.detachNewThread(work) }
    }
}

/// As of 5.13; set-up and tear-down never block.
open class OTVSSPLicenseDelegateV2: OTVSSPLicenseDelegate, @unchecked Sendable {
    public init(certificateURL: URL, licenseURL: URL, ssmServerURL: URL) {
        super.init(
            certificateURL: certificateURL, licenseURL: licenseURL, ssmServerURL: ssmServerURL,
            syncSSMSetupTeardown: false)
    }
}
