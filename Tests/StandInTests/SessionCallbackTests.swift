import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Every callback of the delegate can be driven, and the log tells whose code ran.
@Suite struct SessionCallbackTests {
    @Test func `each of the eleven callbacks reaches a delegate that has them all`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.timedOut]
        let studio = try Studio(behavior, terms: LicenseTerms(.persistent))
        await studio.stage.run {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let delegate = CompleteDelegate(studio.server)
            let session = AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: folder)
            session.setDelegate(delegate, queue: DispatchQueue(label: "app.keys"))
            session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
            await studio.log.untilCallback("didSucceed")
            session.standIn.renew("skd://demo/video")
            await studio.log.untilCallback("didFail")
            session.standIn.request(["skd://a", "skd://b"], initializationData: Data("pssh".utf8))
            session.standIn.changeProtectionSession(to: Data([1]))
            session.standIn.changeProtection(.insufficient)
            session.standIn.updatePersistableKey(Data([2]), identifier: "skd://demo/video")
            await studio.log.untilCallback("didFail", times: 3)
            session.expire()
            await studio.log.untilCallback("didGenerateExpiredSessionReport")
            #expect(Set(studio.log.names) == Set(Callback.allCases.map(\.rawValue)))
            #expect(studio.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(studio.log.violations.isEmpty)
            let reports = AVContentKeySession.pendingExpiredSessionReports(
                withAppIdentifier: studio.server.certificate, storageDirectoryAt: folder)
            #expect(reports.count == 1)
            AVContentKeySession.removePendingExpiredSessionReports(
                reports, withAppIdentifier: studio.server.certificate, storageDirectoryAt: folder)
            let rest = AVContentKeySession.pendingExpiredSessionReports(
                withAppIdentifier: studio.server.certificate, storageDirectoryAt: folder)
            #expect(rest.isEmpty)
        }
    }

    @Test func `a default tells that the delegate lacks the method`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = App(ScriptedDelegate { _, _ in })
            app.session.standIn.changeProtectionSession(to: Data([1]))
            await studio.log.untilCallback("sessionIdentifierDidChange")
            #expect(studio.log.callbacks.map(\.implementation) == [.standard])
        }
    }

    @Test func `a batch comes one by one to a delegate that takes no batches`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = App(
                ScriptedDelegate { _, request in
                    request.processContentKeyResponseError(NSError(domain: "app", code: 1))
                })
            app.session.standIn.request(["skd://a", "skd://b"], initializationData: Data())
            await studio.log.untilCallback("didProvide", times: 2)
            #expect(!studio.log.names.contains("didProvideBatch"))
        }
    }

    @Test func `a stored key gives a secure token, other bytes give none`() async throws {
        let studio = try Studio(terms: LicenseTerms(.persistent))
        try await studio.stage.run {
            let delegate = AppDelegate(studio.server, .offline)
            let app = App(delegate)
            app.session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
            await studio.log.untilCallback("didSucceed")
            let stored = try #require(delegate.files.withLock { $0.values.first })
            let token = try await app.session.makeSecureTokenForExpirationDate(ofPersistableContentKey: stored)
            #expect(!token.isEmpty)
            await #expect(throws: AVError.self) {
                try await app.session.invalidatePersistableContentKey(Data([1, 2]))
            }
        }
    }
}

/// Has all eleven callbacks. Stores keys, refuses renewals and batches.
private final class CompleteDelegate: NSObject, AVContentKeySessionDelegate {
    private let app: AppDelegate

    init(_ server: KeyServer) { app = AppDelegate(server, .offline) }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        app.contentKeySession(session, didProvide: keyRequest)
    }

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) { keyRequest.processContentKeyResponseError(NSError(domain: "app", code: 1)) }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest) {
        app.contentKeySession(session, didProvide: keyRequest)
    }

    func contentKeySession(
        _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
        forContentKeyIdentifier keyIdentifier: Any
    ) {}

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error
    ) {}

    func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool { true }

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest
    ) {}

    func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession) {}

    func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession) {}

    func contentKeySession(
        _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey
    ) {}

    func contentKeySession(
        _ session: AVContentKeySession, didProvide keyRequests: [AVContentKeyRequest],
        forInitializationData initializationData: Data?
    ) {
        for request in keyRequests {
            request.processContentKeyResponseError(NSError(domain: "app", code: 2))
        }
    }
}
