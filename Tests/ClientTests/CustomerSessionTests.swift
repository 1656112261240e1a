import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// The app's side of `customer-ssm`.
private final class FakeApp: CustomerSessionCallbacks {
    struct Refused: Error {}
    private let state = Locked((log: [String](), payloads: [Data](), heartbeats: 0, failing: false))
    private let watch = AsyncStream<String>.makeStream()
    private let license: @Sendable (CustomerLicenseType) async throws -> CustomerLicense

    init(_ license: @escaping @Sendable (CustomerLicenseType) async throws -> CustomerLicense) {
        self.license = license
    }

    convenience init(heartbeat: Int, _ type: SessionRenewal = .enforced) {
        self.init { _ in CustomerLicense(ckc: SampleBytes.ckc(), heartbeat: heartbeat, renewType: type) }
    }

    var log: [String] { state.withLock { $0.log } }
    var payloads: [Data] { state.withLock { $0.payloads } }
    var calls: AsyncStream<String> { watch.stream }
    func failHeartbeats() { state.withLock { $0.failing = true } }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        note("\(keySystem) \(type.rawValue)", payload)
        return try await license(type)
    }

    func heartbeat() async throws {
        note("heartbeat", nil)
        if state.withLock({ $0.failing }) { throw Refused() }
    }

    private func note(_ entry: String, _ payload: Data?) {
        state.withLock { state in
            state.log.append(entry)
            if let payload { state.payloads.append(payload) }
        }
        watch.continuation.yield(entry)
    }
}

/// An app whose heartbeat returns when it is cancelled only.
private struct StuckApp: CustomerSessionCallbacks {
    let isBeating = Gate()
    let wasCancelled = Gate()

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        CustomerLicense(ckc: SampleBytes.ckc(), heartbeat: 45, renewType: .heartbeat)
    }

    func heartbeat() async throws {
        isBeating.open()
        await withTaskCancellationHandler {
            await wasCancelled.wait()
        } onCancel: {
            wasCancelled.open()
        }
        throw CancellationError()
    }
}

@Suite(.timeLimit(.minutes(5))) struct CustomerSessionTests {
    static let request = "94CE86FB-07FF-4F43-ADB8-93D2FA968CA2 0"
    static let renewal = "94CE86FB-07FF-4F43-ADB8-93D2FA968CA2 1"
    let clock = ManualTimekeeper()

    private func session(_ app: FakeApp) throws -> CustomerSession {
        try CustomerSession(certificate: SampleBytes.certificate, callbacks: app, timekeeper: clock)
    }

    @discardableResult
    private func answer(
        _ session: CustomerSession, _ purpose: KeyPurpose = .streaming
    ) async -> FakeKeyRequest.Answer {
        let request = FakeKeyRequest(SessionHarness.key, purpose: purpose)
        session.answer(request)
        return await request.firstAnswer()
    }

    private func pass(_ duration: Duration) async {
        await clock.untilSomeoneSleeps(for: duration)
        clock.advance(by: duration)
    }

    @Test func `the app gets key system, SPC and type, and the player the CKC`() async throws {
        let app = FakeApp(heartbeat: 0)
        let session = try session(app)
        let request = FakeKeyRequest(SessionHarness.key)
        session.answer(request)
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
        #expect(request.certificates == [SampleBytes.certificate] && request.identifiers == [Data("demo-1".utf8)])
        #expect(app.log == [Self.request] && app.payloads == [SampleBytes.spc])
    }

    @Test func `a license without seconds sets no timer, and its type is enforced`() async throws {
        let license = CustomerLicense(ckc: SampleBytes.ckc())
        #expect(license.heartbeat == 0 && license.renewType == .enforced)
        let session = try session(FakeApp(heartbeat: 0))
        await answer(session)
        #expect(await clock.isQuiet())
    }

    @Test func `an enforced license is renewed through the player each time the seconds have passed`() async throws {
        let app = FakeApp(heartbeat: 60)
        let session = try session(app)
        session.attach(
            renew: { [weak session] in session?.answer(FakeKeyRequest(SessionHarness.key, purpose: .renewal)) },
            fail: { _ in })
        var calls = app.calls.makeAsyncIterator()
        await answer(session)
        for _ in 0..<3 {
            await pass(.seconds(60))
            _ = await calls.next()
        }
        while app.log.count < 4 { await Task.yield() }
        // On a busy machine the clock may have moved on meanwhile, and a fourth renewal is under way.
        #expect(app.log.prefix(4) == [Self.request, Self.renewal, Self.renewal, Self.renewal])
    }

    @Test func `a license that heartbeats keep alive calls the app each time the seconds have passed`() async throws {
        let app = FakeApp(heartbeat: 45, .heartbeat)
        let session = try session(app)
        var calls = app.calls.makeAsyncIterator()
        await answer(session)
        #expect(await calls.next() == Self.request)
        for _ in 0..<3 {
            await pass(.seconds(45))
            #expect(await calls.next() == "heartbeat")
        }
        session.suspend()
        clock.advance(by: .seconds(450))
        session.resume()
        #expect(await calls.next() == "heartbeat")
        await clock.untilSomeoneSleeps(for: .seconds(45))
        #expect(app.log.count == 5)
    }

    /// An app whose licenses ask for these seconds in turn.
    private func app(_ seconds: Int...) -> FakeApp {
        let left = Locked(seconds)
        return FakeApp { _ in
            let next = left.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
            return CustomerLicense(ckc: SampleBytes.ckc(), heartbeat: next, renewType: .heartbeat)
        }
    }

    @Test func `another key's first license without seconds leaves the heartbeats as they are`() async throws {
        let app = app(45, 0)
        let session = try session(app)
        var calls = app.calls.makeAsyncIterator()
        await answer(session)
        await clock.untilSomeoneSleeps(for: .seconds(45))
        await session.answer(FakeKeyRequest("skd://b3RoZXI=?x=1")).workEnded()
        for _ in 0..<2 { #expect(await calls.next() == Self.request) }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(45))
        #expect(await calls.next() == "heartbeat")
    }

    @Test func `a renewed license without seconds ends the heartbeats`() async throws {
        let session = try session(app(45, 0))
        await answer(session)
        await clock.untilSomeoneSleeps(for: .seconds(45))
        await answer(session, .renewal)
        #expect(await clock.isQuiet())
    }

    @Test func `a heartbeat that throws ends the session, once`() async throws {
        let app = FakeApp(heartbeat: 45, .heartbeat)
        let session = try session(app)
        let (failures, failed) = AsyncStream<ContentKeyError>.makeStream()
        session.attach(renew: {}, fail: { failed.yield($0) })
        await answer(session)
        app.failHeartbeats()
        await pass(.seconds(45))
        var iterator = failures.makeAsyncIterator()
        let error = await iterator.next()
        #expect(error?.stage == .heartbeat && error?.underlying is FakeApp.Refused)
        #expect(await clock.isQuiet())
        clock.advance(by: .seconds(450))
        #expect(app.log == [Self.request, "heartbeat"])
    }

    @Test func `a license that throws is the key's one error`() async throws {
        let session = try session(FakeApp { _ in throw FakeApp.Refused() })
        let request = FakeKeyRequest(SessionHarness.key)
        session.answer(request)
        let error = await request.firstAnswer().error
        #expect(error?.stage == .license && error?.underlying is FakeApp.Refused && request.answers.count == 1)
        #expect(await clock.isQuiet())
    }

    @Test func `an app that never returns, or gives nothing, is an error of the license`() async throws {
        let (request, isAsked) = (FakeKeyRequest(SessionHarness.key), Gate())
        let silent = FakeApp { _ in
            isAsked.open()
            return await Never.returning()
        }
        try session(silent).answer(request)
        await isAsked.wait()
        await pass(.seconds(30))
        let error = await request.firstAnswer().error
        #expect(error?.code == "deadlineExceeded" && error?.stage == .license)
        let empty = try session(FakeApp { _ in CustomerLicense(ckc: Data()) })
        #expect(await answer(empty).error?.code == "licenseMalformed")
    }

    @Test func `cancelling answers what is open, and calls nobody any more`() async throws {
        let gate = Gate()
        let app = FakeApp { _ in
            await gate.wait()
            return CustomerLicense(ckc: SampleBytes.ckc(), heartbeat: 60)
        }
        let session = try session(app)
        let request = FakeKeyRequest(SessionHarness.key)
        let handle = session.answer(request)
        session.cancel()
        #expect(request.answers.map(\.error?.code) == ["cancelled"])
        gate.open()
        await handle.workEnded()
        #expect(request.answers.count == 1)
        #expect(await clock.isQuiet())
        #expect(await answer(session).error?.code == "cancelled")
    }

    @Test(arguments: [SessionRenewal.heartbeat, .enforced])
    func `cancelling ends the heartbeats and renewals that were set`(type: SessionRenewal) async throws {
        let app = FakeApp(heartbeat: 45, type)
        let session = try session(app)
        let renewals = Locked(0)
        session.attach(renew: { renewals.withLock { $0 += 1 } }, fail: { _ in })
        await answer(session)
        await clock.untilSomeoneSleeps(for: .seconds(45))
        session.cancel()
        #expect(await clock.isQuiet())
        clock.advance(by: .seconds(450))
        #expect(app.log == [Self.request] && renewals.withLock { $0 } == 0)
    }

    @Test func `cancelling ends a heartbeat that is under way, and tells nobody of it`() async throws {
        let app = StuckApp()
        let session = try CustomerSession(
            certificate: SampleBytes.certificate, callbacks: app, timekeeper: clock)
        let failures = Locked(0)
        session.attach(renew: {}, fail: { _ in failures.withLock { $0 += 1 } })
        await answer(session)
        await pass(.seconds(45))
        await app.isBeating.wait()
        session.cancel()
        await app.wasCancelled.wait()
        #expect(failures.withLock { $0 } == 0)
    }

    @Test func `a session that goes away leaves no timer`() async throws {
        let app = FakeApp(heartbeat: 45, .heartbeat)
        do {
            let session = try session(app)
            await answer(session)
            await clock.untilSomeoneSleeps(for: .seconds(45))
        }
        #expect(await clock.isQuiet())
        #expect(app.log == [Self.request])
    }

    @Test func `bytes that are no certificate are refused`() {
        let error = #expect(throws: IntegrationError.self) {
            try CustomerSession(certificate: Data("<html>".utf8), callbacks: FakeApp(heartbeat: 0))
        }
        #expect(error?.kind == .certificateMalformed)
    }
}

extension ManualTimekeeper {
    /// Whether no task waits for time to pass, as soon as that is so.
    func isQuiet() async -> Bool {
        for _ in 0..<100_000 {
            if sleeperCount == 0 { return true }
            await Task.yield()
        }
        return false
    }
}
