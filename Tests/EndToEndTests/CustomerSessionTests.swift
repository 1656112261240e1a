import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// `customer-ssm`: the app's callbacks send the requests, and a simulated device makes the SPCs and opens the CKCs.
@Suite(.timeLimit(.minutes(5))) struct CustomerSessionTests {
    @Test func `the device gets its key, and a heartbeat keeps the app's session alive`() async throws {
        try await SessionStage.with { stage in
            let app = backend(stage)
            let session = try await open(app, stage)
            let key = try await key(session, stage).get()
            #expect(key.contentKey == stage.service.environment.authority.keys.keys.first?.content)

            await stage.passHeartbeat()
            for await _ in app.heartbeats { break }
            session.cancel()
            try await app.closeSession()
            #expect(app.licenseTypes == [.request])
            #expect(stage.steps == ["sessionSetup", "license", "sessionHeartbeat", "sessionTeardown"])
            #expect(stage.nagra.openSessions == 0)
            #expect(stage.service.warnings.isEmpty && stage.leaks.isEmpty)
        }
    }

    @Test func `where the app's license says so, renewals keep the session alive`() async throws {
        try await SessionStage.with({ $0.enforcesSessions = true }) { stage in
            let app = backend(stage)
            let session = try await open(app, stage)
            let renewals = AsyncStream.makeStream(of: Void.self)
            session.attach(renew: { renewals.continuation.yield() }, fail: { _ in })
            #expect(try await key(session, stage).get().terms.validity == .lease(SessionStage.heartbeat * 2))

            for _ in 1...2 {
                await stage.passHeartbeat()
                for await _ in renewals.stream { break }
                _ = try await key(session, stage, .renewal).get()
            }
            #expect(app.licenseTypes == [.request, .renewal, .renewal])
            #expect(stage.service.requests(at: .license).map { $0.queryValue("renew") } == [nil, "true", "true"])
            #expect(stage.count(.sessionHeartbeat) == 0)
            #expect(stage.service.warnings.isEmpty)
            session.cancel()
        }
    }

    @Test func `a heartbeat that the service refuses stops the player once`() async throws {
        try await SessionStage.with { stage in
            let session = try await open(backend(stage), stage)
            let failures = AsyncStream.makeStream(of: ContentKeyError.self)
            session.attach(renew: {}, fail: { failures.continuation.yield($0) })
            _ = try await key(session, stage).get()
            stage.service.faults.set(.refusal(code: "1007", status: 400), at: .sessionHeartbeat)
            await stage.passHeartbeat()

            var error: ContentKeyError?
            for await failure in failures.stream {
                error = failure
                break
            }
            #expect(error?.stage == .heartbeat && error?.remedy.isEmpty == false)
            #expect((error?.underlying as? NAGRABackend.Refused)?.status == 400)
            #expect(stage.count(.sessionHeartbeat) == 1)
        }
    }

    @Test func `a license that the service refuses is one typed error with the app's own below it`() async throws {
        try await SessionStage.with { stage in
            let session = try await open(backend(stage), stage)
            stage.service.faults.set(.refusal(code: "4711", status: 400), at: .license)
            let error = try #require(try await key(session, stage).error as? ContentKeyError)
            #expect(error.stage == .license && !error.reason.isEmpty && !error.remedy.isEmpty)
            #expect((error.underlying as? NAGRABackend.Refused)?.status == 400)

            stage.service.faults.clear()
            _ = try await key(session, stage).get()
            #expect(stage.count(.license) == 2)
        }
    }

    /// The app's work before it makes the session: it loads the certificate and sets up a session at the service.
    private func backend(_ stage: SessionStage) -> NAGRABackend {
        NAGRABackend(
            settings: stage.live.configured(.nagra).settings, contentToken: stage.service.issueToken(),
            heartbeat: SessionStage.heartbeat)
    }

    private func open(_ app: NAGRABackend, _ stage: SessionStage) async throws -> CustomerSession {
        try await app.openSession()
        return try CustomerSession(
            certificate: try await app.certificate(), callbacks: app, timekeeper: stage.clock)
    }

    private func key(
        _ session: CustomerSession, _ stage: SessionStage, _ purpose: KeyPurpose = .streaming
    ) async throws -> Result<DeviceKey, any Error> {
        let request = try stage.live.request(for: .nagra, purpose: purpose)
        session.answer(request)
        return await request.outcome
    }
}
