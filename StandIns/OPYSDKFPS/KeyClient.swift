import AVFoundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The SDK's own key session. It asks the license delegate, which blocks the SDK's worker thread.
// Sound: the mutable state of the client and of the manager is behind locks.
final class KeyClient: NSObject, AVContentKeySessionDelegate, @unchecked Sendable {
    private struct State {
        var heartbeat: Task<Void, Never>?
        var renewals: [String: Task<Void, Never>] = [:]
        /// The requests that the app is working on.
        var open: Set<ObjectIdentifier> = []
    }

    let session = AVContentKeySession(keySystem: .fairPlayStreaming)
    let stage: StandInStage
    let worker = DispatchQueue(label: "com.nagra.opentv.worker")
    private let manager: OTVDRMManager
    private let queue = DispatchQueue(label: "com.nagra.opentv.keys")
    private let state = Locked(State())

    init(_ manager: OTVDRMManager, _ stage: StandInStage) {
        self.manager = manager
        self.stage = stage
        super.init()
        session.setDelegate(self, queue: queue)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        begin(keyRequest, .request)
    }

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) { begin(keyRequest, .renewal) }

    func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool { true }

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error
    ) { state.withLock { _ = $0.open.remove(ObjectIdentifier(keyRequest)) } }

    /// Ends heartbeats and renewals.
    func stop() {
        let tasks = state.withLock { state in
            defer {
                state.heartbeat = nil
                state.renewals = [:]
            }
            return Array(state.renewals.values) + [state.heartbeat].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
    }

    private func begin(_ request: AVContentKeyRequest, _ type: OTVLicenseRequestType) {
        let isNew = state.withLock { $0.open.insert(ObjectIdentifier(request)).inserted }
        guard isNew, request.status == .requestingResponse else { return }
        let isRenewal = type == .renewal
        Task { await answer(request, isRenewal ? .renewal : .request) }
    }

    private func answer(_ request: AVContentKeyRequest, _ type: OTVLicenseRequestType) async {
        do {
            let license = try await license(for: request, type)
            close(request) { request.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: license)) }
            announceEnd(success: true)
        } catch {
            OTVLicenseFailure.post(.OTVDRMLicenseError, error as NSError)
            announceEnd(success: false)
            close(request) { request.processContentKeyResponseError(error as NSError) }
        }
    }

    /// Answers a request unless the session has cancelled it.
    private func close(_ request: AVContentKeyRequest, _ answer: () -> Void) {
        // Prevents the session from ending a request while the lock is held.
        state.withLock { if $0.open.remove(ObjectIdentifier(request)) != nil { answer() } }
    }

    private func license(for request: AVContentKeyRequest, _ type: OTVLicenseRequestType) async throws -> Data {
        let text = request.identifier as? String ?? (request.identifier as? URL)?.absoluteString ?? ""
        guard let delegate = manager.delegate, let url = URL(string: text) else {
            throw OTVLicenseFailure.error("There is no license delegate.")
        }
        let asker = DelegateAsker(delegate, on: worker, stage)
        if stage.misbehaves(.dropsDelegate) { manager.dropDelegate() }
        guard let identifier = await asker.contentIdentifier(url), let certificate = await asker.certificate() else {
            throw OTVLicenseFailure.error("The delegate gives no content identifier or no certificate.")
        }
        let spc = try await request.makeStreamingContentKeyRequestData(
            forApp: certificate, contentIdentifier: identifier)
        let assetID = String(decoding: identifier, as: UTF8.self)
        let reply = await asker.license(
            for: stage.misbehaves(.completesWithNothing) ? Data() : spc, type, assetID, session, request)
        guard let license = reply?.license else { throw OTVLicenseFailure.error("The delegate gives no license.") }
        keepAlive(reply, text, request)
        return license
    }

    private func announceEnd(success: Bool) {
        NotificationCenter.default.post(
            name: .OTVLicenseDownloadEnded, object: nil, userInfo: ["success": success])
    }

    /// Sends the renewals or heartbeats that the app's answer requests.
    private func keepAlive(_ reply: DelegateAsker.Reply?, _ identifier: String, _ request: AVContentKeyRequest) {
        guard let reply, reply.period > .zero else { return }
        let timekeeper = stage.timekeeper
        let due = timekeeper.uptime + reply.period
        switch reply.isRenewed {
        case true:
            let renewal = Task { [weak self] in
                do { try await timekeeper.sleep(until: due) } catch { return }
                self?.session.renewExpiringResponseData(for: request)
            }
            state.withLock { $0.renewals.updateValue(renewal, forKey: identifier) }?.cancel()
        case false:
            let heartbeat = Task { [weak self] in
                var due = due
                while true {
                    do { try await timekeeper.sleep(until: due) } catch { return }
                    due = timekeeper.uptime + reply.period
                    guard let self else { return }
                    await self.beat()
                }
            }
            let previous = state.withLock { state in
                defer { state.heartbeat = heartbeat }
                return state.heartbeat
            }
            previous?.cancel()
        }
    }

    /// Calls the app's heartbeat on the worker thread.
    func beat() async {
        guard let delegate = manager.delegate else { return }
        await DelegateAsker(delegate, on: worker, stage).heartbeat()
    }

    var asker: DelegateAsker? { manager.delegate.map { DelegateAsker($0, on: worker, stage) } }
}
