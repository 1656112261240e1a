import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session that the first license opens: the slot that `latchkey-server` counts. Source: `Documentation/Vendors/Latchkey.md`.
@Suite(.timeLimit(.minutes(5))) struct LicenseSessionTests {
    private let harness = SlotHarness()

    @Test func `the first license opens the session, heartbeats use its token, and the end frees the slot`()
        async throws
    {
        var events = try harness.loader.events().makeAsyncIterator()
        #expect(try await harness.answer().ckc == SampleBytes.ckc())
        #expect(await events.states(until: .on) == [.on])
        for _ in 0..<2 {
            await harness.passPeriod()
            #expect(await events.states(until: .on) == [.renewalRequested, .on])
        }
        try harness.loader.cancel()
        #expect(await events.states(until: .off) == [.teardownRequested, .off])
        #expect(harness.log == ["license", "heartbeat SLOT-1", "heartbeat SLOT-1", "end SLOT-1"])
    }

    @Test func `a license from a tenant without sessions opens none`() async throws {
        harness.tell(token: false)
        #expect(try await harness.answer().ckc != nil)
        #expect(try await harness.answer().ckc != nil)
        #expect(await harness.hasNoTimer())
        try harness.loader.cancel()
        #expect(await harness.hasNoTimer())
        #expect(harness.log == ["license", "license"])
    }

    @Test func `a slot without heartbeats is only freed`() async throws {
        harness.tell(heartbeat: nil)
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        #expect(await events.states(until: .on) == [.on])
        #expect(await harness.hasNoTimer())
        try harness.loader.cancel()
        _ = await events.states(until: .off)
        #expect(harness.log == ["license", "end SLOT-1"])
    }

    @Test func `a later license's token replaces the previous one, as a heartbeat does`() async throws {
        try await harness.answer()
        await harness.clock.untilSomeoneSleeps(for: SlotHarness.period)
        harness.clock.advance(by: .seconds(20))
        try await harness.answer()
        await harness.clock.untilSomeoneSleeps(for: SlotHarness.period)
        harness.clock.advance(by: SlotHarness.period)
        await harness.untilLogged(3)
        #expect(harness.log == ["license", "license", "heartbeat SLOT-2"])
    }

    @Test func `a new source waits until the last one's slot is free`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        let gate = harness.hold("end")
        try harness.loader.release(.only)
        let request = harness.request()
        try harness.loader.answer(request)
        await harness.untilLogged(2)
        #expect(harness.log == ["license", "end SLOT-1"])
        gate.open()
        #expect(await request.firstAnswer().ckc != nil)
        #expect(harness.log == ["license", "end SLOT-1", "license"])
    }

    @Test func `a license that arrives after its source ended is returned`() async throws {
        let gate = harness.hold("license")
        let request = harness.request()
        try harness.loader.answer(request)
        await harness.transport.untilRequested(2)
        var events = try harness.loader.events().makeAsyncIterator()
        gate.open()
        _ = await request.firstAnswer()
        try harness.loader.release(.only)
        _ = await events.states(until: .off)
        #expect(harness.log == ["license", "end SLOT-1"])
    }

    @Test(arguments: [503, 500])
    func `a lost heartbeat ends no key, and another follows`(status: Int) async throws {
        harness.fault("heartbeat", [.status(status)])
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        await harness.passPeriod()
        await harness.pass(.milliseconds(500))
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        // The period counts from the first attempt.
        await harness.pass(SlotHarness.period - .milliseconds(500))
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        #expect(harness.failures.isEmpty)
    }

    @Test(arguments: [(410, "sessionEnded"), (401, "heartbeatToken")])
    func `a renewal retakes a slot that has lapsed`(status: Int, code: String) async throws {
        harness.attachPlayer()
        harness.fault("heartbeat", [SlotHarness.refusal(status, code)])
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        await harness.passPeriod()
        #expect(await events.states(until: .on) == [.renewalRequested, .off, .on])
        await harness.passPeriod()
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        #expect(harness.log == ["license", "heartbeat SLOT-1", "license", "heartbeat SLOT-2"])
        #expect(harness.failures.isEmpty)
    }

    @Test func `a session stopped by another viewer ends the keys once, with the server's words`() async throws {
        harness.fault("heartbeat", [SlotHarness.refusal(403, "sessionStopped")])
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        await harness.passPeriod()
        #expect(await events.states(until: .error) == [.renewalRequested, .error])
        await harness.untilFailed()
        let error = try #require(harness.failures.first)
        #expect(error.kind == .concurrencyLimit && error.stage == .heartbeat && harness.failures.count == 1)
        #expect(error.service?.code == "sessionStopped")
    }

    @Test func `an older token's refused heartbeat is ignored while a license is under way`() async throws {
        harness.fault("heartbeat", [SlotHarness.refusal(403, "sessionStopped")])
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        await harness.clock.untilSomeoneSleeps(for: SlotHarness.period)
        harness.clock.advance(by: .seconds(25))
        let gate = harness.hold("license")
        let renewal = harness.request(.renewal)
        try harness.loader.answer(renewal)
        await harness.transport.untilRequested(3)
        harness.clock.advance(by: .seconds(5))
        #expect(await events.states(until: .off) == [.renewalRequested, .off])
        gate.open()
        #expect(await renewal.firstAnswer().ckc != nil)
        #expect(await events.states(until: .on) == [.on])
        #expect(harness.failures.isEmpty)
    }
}

/// A loader of the server's own profile, over a server that counts slots.
private final class SlotHarness: Sendable {
    static let period = Duration.seconds(30)

    private struct State {
        var log: [String] = []
        var slots = 0
        var hasToken = true
        var heartbeat: Int? = 30
        var faults: [String: [FakeTransport.Step]] = [:]
        var gates: [String: Gate] = [:]
        var requests: [FakeKeyRequest] = []
        var hasPlayer = false
    }

    let clock = ManualTimekeeper()
    let transport: FakeTransport
    private let state: Locked<State>
    private let owned: Locked<ContentKeyLoader?>

    init() {
        let state = Locked(State())
        self.state = state
        transport = FakeTransport { request, _ in await Self.answer(request, state) }
        let settings = [
            "certificateURL": "https://license.example/t/acme/certificate",
            "licenseURL": "https://license.example/t/acme/fairplay",
        ]
        owned = Locked(
            ContentKeyLoader(
                VendorProfile.latchkey.with(settings).unchecked, credentials: .token { _ in "TOKEN" },
                configuration: LoaderConfiguration(retry: .regular, certificateFetch: .withFirstKey),
                transport: transport, timekeeper: clock, generator: { SeededGenerator(seed: 7) }))
    }

    var loader: ContentKeyLoader {
        get throws { try #require(owned.withLock { $0 }) }
    }
    /// The requests that the server got, with the slot's token.
    var log: [String] { state.withLock { $0.log } }
    /// The errors with which keys ended.
    var failures: [ContentKeyError] { state.withLock { $0.requests }.flatMap(\.ends) }

    /// States facts of the session in later licenses.
    func tell(token: Bool = true, heartbeat: Int? = 30) {
        state.withLock { ($0.hasToken, $0.heartbeat) = (token, heartbeat) }
    }

    func fault(_ step: String, _ faults: [FakeTransport.Step]) { state.withLock { $0.faults[step] = faults } }

    /// Lets the next request of a step wait until a gate is opened.
    func hold(_ step: String) -> Gate {
        let gate = Gate()
        state.withLock { $0.gates[step] = gate }
        return gate
    }

    static func refusal(_ status: Int, _ code: String) -> FakeTransport.Step {
        .reply(HTTPReply(status: status, body: Data(#"{"error":{"code":"\#(code)","reason":"So."}}"#.utf8)))
    }

    /// Makes the player renew its key when asked to.
    func attachPlayer() { state.withLock { $0.hasPlayer = true } }

    func request(_ purpose: KeyPurpose = .streaming) -> FakeKeyRequest {
        let request = FakeKeyRequest(
            "skd://movie/1", purpose: purpose, spc: { SampleBytes.spc },
            renewing: { [weak self] _ in
                guard let self, state.withLock({ $0.hasPlayer }) else { return false }
                _ = try? loader.answer(self.request(.renewal))
                return true
            })
        state.withLock { $0.requests.append(request) }
        return request
    }

    @discardableResult
    func answer() async throws -> FakeKeyRequest.Answer {
        let request = request()
        try loader.answer(request)
        return await request.firstAnswer()
    }

    /// Lets a heartbeat come due.
    func passPeriod() async { await pass(Self.period) }

    /// Lets as much time pass as a task waits for.
    func pass(_ time: Duration) async {
        await clock.untilSomeoneSleeps(for: time)
        clock.advance(by: time)
    }

    /// Waits until the server got a number of requests, which is after the transport counts them.
    func untilLogged(_ count: Int) async { while log.count < count, !Task.isCancelled { await Task.yield() } }

    func untilFailed() async { while failures.isEmpty, !Task.isCancelled { await Task.yield() } }

    func hasNoTimer() async -> Bool { await clock.isQuiet() }

    private static func answer(_ request: URLRequest, _ state: Locked<State>) async -> FakeTransport.Step {
        guard let path = request.url?.path, !path.hasSuffix("/certificate") else { return .certificate }
        let token = request.value(forHTTPHeaderField: "Authorization")?.dropFirst("Bearer ".count) ?? ""
        let step: String
        switch (request.httpMethod, path) {
        case ("POST", "/t/acme/fairplay"): step = "license"
        case ("POST", "/t/acme/sessions/heartbeat"): step = "heartbeat"
        case ("DELETE", "/t/acme/sessions"): step = "end"
        default: return .status(404)
        }
        let gate = state.withLock { state in
            state.log.append(step == "license" ? step : "\(step) \(token)")
            return state.gates.removeValue(forKey: step)
        }
        await gate?.wait()
        return state.withLock { state in
            if var faults = state.faults[step], !faults.isEmpty {
                let fault = faults.removeFirst()
                state.faults[step] = faults
                return fault
            }
            switch step {
            case "heartbeat": return .ok(#"{"until":"2026-11-23T00:01:00Z"}"#)
            case "end": return .status(204)
            default:
                state.slots += 1
                var members = #""ckc":"\#(SampleBytes.ckc().base64EncodedString())""#
                if state.hasToken { members += #","heartbeatToken":"SLOT-\#(state.slots)""# }
                if let seconds = state.heartbeat, state.hasToken { members += #","heartbeat":\#(seconds)"# }
                return .ok("{\(members)}")
            }
        }
    }
}
