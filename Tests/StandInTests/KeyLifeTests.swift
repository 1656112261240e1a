import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// Retries, renewals and stored keys of `AVContentKeySession`.
@Suite(.timeLimit(.minutes(5))) struct KeyLifeTests {
    private let name = "skd://demo/video"

    @Test(arguments: [
        (RetryCause.timedOut, AVContentKeyRequest.RetryReason.timedOut),
        (.expiredLease, .receivedResponseWithExpiredLease), (.obsolete, .receivedObsoleteContentKey),
    ])
    func `a retry that the app wants is a new request`(
        _ cause: RetryCause, _ reason: AVContentKeyRequest.RetryReason
    ) async throws {
        var behavior = StandInBehavior()
        behavior.retries = [cause]
        let fixture = try StandInFixture(behavior)
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server)
            let app = App(delegate)
            let result = try await app.play()
            #expect(result.isRight)
            #expect(delegate.retryReasons.withLock { $0 } == [reason])
            await fixture.log.until { $0.names.count >= 4 }
            #expect(fixture.log.names == ["didProvide", "shouldRetry", "didProvide", "didSucceed"])
        }
    }

    @Test func `an unwanted retry fails the request`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.timedOut]
        let fixture = try StandInFixture(behavior)
        try await fixture.stage.run {
            let server = fixture.server
            let app = App(
                ScriptedDelegate { [name] _, request in
                    request.makeStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data(name.utf8)
                    ) { spc, _ in
                        let license = spc.flatMap { try? server.license(for: $0) }
                        request.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: license ?? Data()))
                    }
                })
            let error = await #expect(throws: AVError.self) { try await app.play() }
            let status = try #require(error?.userInfo[NSUnderlyingErrorKey] as? NSError)
            #expect(status.code == -42669)
            #expect(fixture.log.callbacks.contains { $0.name == "shouldRetry" && $0.implementation == .standard })
        }
    }

    @Test func `a license that comes after the SPC's time is rejected`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let server = fixture.server
            let delegate = AppDelegate(server)
            let app = App(
                ScriptedDelegate { [name, time = fixture.time] _, request in
                    request.makeStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data(name.utf8)
                    ) { spc, _ in
                        time.advance(by: .seconds(601))
                        let license = spc.flatMap { try? server.license(for: $0) }
                        request.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: license ?? Data()))
                    }
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("shouldRetry")
            withExtendedLifetime((app, delegate)) {}
        }
    }

    @Test func `a renewal resets the lease's time`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server)
            let app = App(delegate)
            _ = try await app.play()
            fixture.time.advance(by: .seconds(500))
            let first = try #require(delegate.granted.withLock { $0.first })
            app.session.renewExpiringResponseData(for: first)
            await fixture.log.untilCallback("didSucceed", times: 2)
            fixture.time.advance(by: .seconds(500))
            #expect(app.session.standIn.usableKeys == [name])
            #expect(first.status == .renewed)
            let second = try #require(delegate.granted.withLock { $0.last })
            #expect(second.renewsExpiringResponseData)
            #expect(fixture.log.names.contains("didProvideRenewing"))
        }
    }

    @Test func `a failed renewal leaves the lease until its end`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let app = App(RenewalRefuser(fixture.server))
            _ = try await app.play()
            app.session.standIn.renew(name)
            await fixture.log.untilCallback("didFail")
            #expect(app.session.standIn.usableKeys == [name])
            fixture.time.advance(by: .seconds(600))
            #expect(app.session.standIn.usableKeys.isEmpty)
        }
    }

    @Test func `a stored key plays without the key server`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistentFor(.seconds(3_600))))
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server, .offline)
            let download = App(delegate)
            download.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            let offline = App(delegate)
            let result = try await offline.play()
            #expect(result.isRight)
            #expect(fixture.log.violations.isEmpty)
            fixture.time.advance(by: .seconds(3_600))
            let late = App(delegate)
            let error = await #expect(throws: AVError.self) { try await late.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -42800)
        }
    }

    @Test func `the first play of a dual expiry key gives another key to store`() async throws {
        let fixture = try StandInFixture(
            terms: LicenseTerms(.dualExpiry(storage: .seconds(3_600), playback: .seconds(600))))
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server, .offline)
            let app = App(delegate)
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            let original = try #require(delegate.files.withLock { $0[name] })
            _ = try await app.play()
            await fixture.log.untilCallback("didUpdatePersistable")
            let updated = try #require(delegate.files.withLock { $0[name] })
            #expect(updated != original)
            let second = App(delegate)
            let result = try await second.play()
            #expect(result.isRight)
            delegate.files.withLock { $0[name] = original }
            let old = App(delegate)
            let error = await #expect(throws: AVError.self) { try await old.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -42803)
        }
    }

    @Test func `a license that forbids storage gives nothing to store`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        await fixture.stage.run {
            let delegate = AppDelegate(fixture.server, .offline)
            let app = App(delegate)
            let error = await #expect(throws: (any Error).self) { try await app.play() }
            #expect((error as NSError?)?.domain == AVFoundationErrorDomain)
            #expect(delegate.files.withLock { $0.isEmpty })
        }
    }

    @Test func `a refused persistable switch leaves the request to be answered online`() async throws {
        var behavior = StandInBehavior()
        behavior.persistence = .refused
        let fixture = try StandInFixture(behavior)
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server, .offline))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(!fixture.log.names.contains("didProvidePersistable"))
            #expect(fixture.log.violations.isEmpty)
        }
    }
}

/// Answers like an app, but rejects renewals.
private final class RenewalRefuser: NSObject, AVContentKeySessionDelegate {
    private let app: AppDelegate

    init(_ server: KeyServer) { app = AppDelegate(server) }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        app.contentKeySession(session, didProvide: keyRequest)
    }

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) { keyRequest.processContentKeyResponseError(NSError(domain: "app", code: 1)) }
}
