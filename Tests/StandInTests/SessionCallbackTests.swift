import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Every callback of the delegate can be triggered, and the log shows whose code ran.
@Suite(.timeLimit(.minutes(5))) struct SessionCallbackTests {
    @Test func `each of the eleven callbacks reaches a delegate with all of them`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.timedOut]
        let fixture = try StandInFixture(behavior, terms: LicenseTerms(.persistent))
        await fixture.stage.run {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let delegate = CompleteDelegate(fixture.server)
            let session = AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: folder)
            session.setDelegate(delegate, queue: DispatchQueue(label: "app.keys"))
            session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            session.standIn.renew("skd://demo/video")
            await fixture.log.untilCallback("didFail")
            session.standIn.request(["skd://a", "skd://b"], initializationData: Data("pssh".utf8))
            session.standIn.changeProtectionSession(to: Data([1]))
            session.standIn.changeProtection(.insufficient)
            session.standIn.updatePersistableKey(Data([2]), identifier: "skd://demo/video")
            await fixture.log.untilCallback("didFail", times: 3)
            session.expire()
            await fixture.log.untilCallback("didGenerateExpiredSessionReport")
            #expect(Set(fixture.log.names) == Set(Callback.allCases.map(\.rawValue)))
            #expect(fixture.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(fixture.log.violations.isEmpty)
            let reports = AVContentKeySession.pendingExpiredSessionReports(
                withAppIdentifier: fixture.server.certificate, storageDirectoryAt: folder)
            #expect(reports.count == 1)
            AVContentKeySession.removePendingExpiredSessionReports(
                reports, withAppIdentifier: fixture.server.certificate, storageDirectoryAt: folder)
            let rest = AVContentKeySession.pendingExpiredSessionReports(
                withAppIdentifier: fixture.server.certificate, storageDirectoryAt: folder)
            #expect(rest.isEmpty)
        }
    }

    @Test func `a default shows that the delegate lacks the method`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(ScriptedDelegate { _, _ in })
            app.session.standIn.changeProtectionSession(to: Data([1]))
            await fixture.log.untilCallback("sessionIdentifierDidChange")
            #expect(fixture.log.callbacks.map(\.implementation) == [.standard])
        }
    }

    @Test func `a batch comes one by one to a delegate without batches`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(
                ScriptedDelegate { _, request in
                    request.processContentKeyResponseError(NSError(domain: "app", code: 1))
                })
            app.session.standIn.request(["skd://a", "skd://b"], initializationData: Data())
            await fixture.log.untilCallback("didProvide", times: 2)
            #expect(!fixture.log.names.contains("didProvideBatch"))
        }
    }

    @Test func `a stored key gives a secure token, other bytes give none`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server, .offline)
            let app = App(delegate)
            app.session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            let stored = try #require(delegate.files.withLock { $0.values.first })
            let token = try await app.session.makeSecureTokenForExpirationDate(ofPersistableContentKey: stored)
            #expect(!token.isEmpty)
            await #expect(throws: AVError.self) {
                try await app.session.invalidatePersistableContentKey(Data([1, 2]))
            }
        }
    }
}

/// Implements all eleven callbacks. Stores keys, rejects renewals and batches.
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
