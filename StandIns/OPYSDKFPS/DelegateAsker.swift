import AVFoundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Calls a license delegate on a worker thread and waits for it.
// Sound: the real SDK calls delegates on any thread, too.
struct DelegateAsker: @unchecked Sendable {
    /// The answer to a license request.
    struct Reply: Sendable {
        let license: Data?
        var period = Duration.zero
        /// Whether the key is kept alive by renewals rather than heartbeats.
        var isRenewed = true
    }

    /// FairPlay's identifier in the SDK.
    static let keySystem = "94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"

    private let delegate: any OTVLicenseDelegate
    private let worker: DispatchQueue
    private let stage: StandInStage

    init(_ delegate: any OTVLicenseDelegate, on worker: DispatchQueue, _ stage: StandInStage) {
        self.delegate = delegate
        self.worker = worker
        self.stage = stage
    }

    func contentIdentifier(_ url: URL) async -> Data? {
        // This class belongs to the SDK, so there are no calls to the app to record.
        if let own = delegate as? OTVCustomerSSMDelegate { return own.contentIdentifier(url: url) }
        return await ask("contentIdentifier", url.absoluteString) { $0.contentIdentifier(url: url) }.flatMap { $0 }
    }

    func certificate() async -> Data? {
        if let own = delegate as? OTVCustomerSSMDelegate { return own.certificate() }
        return await ask("certificate") { $0.certificate() }.flatMap { $0 }
    }

    /// Requests a license; twice if the player has that misbehavior. The first answer counts.
    func license(
        for spc: Data, _ type: OTVLicenseRequestType, _ assetID: String, _ session: AVContentKeySession,
        _ request: AVContentKeyRequest
    ) async -> Reply? {
        let reply = await oneLicense(for: spc, type, assetID, session, request)
        if stage.misbehaves(.callsBackTwice) { _ = await oneLicense(for: spc, type, assetID, session, request) }
        return reply
    }

    private func oneLicense(
        for spc: Data, _ type: OTVLicenseRequestType, _ assetID: String, _ session: AVContentKeySession,
        _ request: AVContentKeyRequest
    ) async -> Reply? {
        if delegate is OTVCustomerSSMDelegate { return await callbackLicense(for: spc, type) }
        if let license = await ask(
            "ckcMessageWith", assetID,
            {
                $0.ckcMessageWith(spc: spc, assetID: assetID, session: session, keyRequest: request)
            })
        {
            return Reply(license: license)
        }
        if let license = await ask("ckcMessageWithID", assetID, { $0.ckcMessageWithID(spc: spc, assetID: assetID) }) {
            return Reply(license: license)
        }
        return await ask("ckcMessage") { $0.ckcMessage(spc: spc) }.map { Reply(license: $0) }
    }

    /// Calls `license` of a customer callback.
    func callbackLicense(for spc: Data, _ type: OTVLicenseRequestType) async -> Reply? {
        let isRenewal = type == .renewal
        return await ask("license", isRenewal ? "renewal" : "request") { delegate -> Reply? in
            guard let callback = (delegate as? OTVCustomerSSMDelegate)?.callback else {
                CallbackProbe.noteNobody()
                return nil
            }
            let response = callback.license(
                keySystem: Self.keySystem, payload: spc, licenseType: isRenewal ? .renewal : .request)
            return Reply(
                license: response.licence, period: Duration(clampingSeconds: max(0, response.heartbeat)),
                isRenewed: response.renewType == .enforced)
        }.flatMap { $0 }
    }

    /// Calls `heartbeat` of a customer callback.
    func heartbeat() async {
        await ask("heartbeat") { delegate in
            guard let callback = (delegate as? OTVCustomerSSMDelegate)?.callback else {
                return CallbackProbe.noteNobody()
            }
            callback.heartbeat()
        }
    }

    @discardableResult
    private func ask<Value: Sendable>(
        _ name: String, _ subject: String? = nil, _ body: @escaping @Sendable (any OTVLicenseDelegate) -> Value
    ) async -> Value? {
        await stage.call(name, about: subject, on: worker) { body(delegate) }
    }
}
