import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A license service with secure sessions: it counts sessions, knows their tokens and logs its requests.
final class FakeSessionService: Sendable {
    fileprivate struct State {
        var log: [String] = []
        /// The session that each token belongs to; a session keeps its older tokens.
        var sessions: [String: Int] = [:]
        var open: Set<Int> = []
        var ending: Set<Int> = []
        var faults: [String: [FakeTransport.Step]] = [:]
        var gates: [String: Gate] = [:]
        var isEnforced = false
        var heartbeat = 100
        var setupsUnderWay = 0
        var mostSetups = 0
        var unknown: [String] = []
    }

    private let state = Locked(State())

    /// The requests, in order: step and tokens, `license TOKEN-1,SESSION-1`.
    var log: [String] { state.withLock { $0.log } }
    /// The sessions that are open.
    var openSessions: Set<Int> { state.withLock { $0.open } }
    /// How many sessions were opened.
    var sessionCount: Int { state.withLock { Set($0.sessions.values).count } }
    /// The largest number of setups at one time.
    var mostSetups: Int { state.withLock { $0.mostSetups } }
    /// Requests with a token of no session, or of one that was asked to end earlier.
    var unknown: [String] { state.withLock { $0.unknown } }

    /// Whether the licenses say that renewals keep the session alive.
    func enforce() { state.withLock { $0.isEnforced = true } }

    /// Has sessions opened from now on ask for a heartbeat after this many seconds.
    func setHeartbeat(_ seconds: Int) { state.withLock { $0.heartbeat = seconds } }

    /// Gives the next requests of a step faults.
    func fault(_ step: String, _ faults: FakeTransport.Step...) {
        state.withLock { $0.faults[step, default: []] += faults }
    }

    /// Lets requests of a step wait until a gate is opened.
    func hold(_ step: String) -> Gate {
        let gate = Gate()
        state.withLock { $0.gates[step] = gate }
        return gate
    }

    func answer(_ request: URLRequest) async -> FakeTransport.Step {
        let path = request.url?.path ?? ""
        guard request.httpMethod == "POST" else { return .certificate }
        let isRenewal = request.url?.query == "renew=true"
        let step =
            path.hasSuffix("licenses")
            ? (isRenewal ? "renew" : "license") : String(path.split(separator: "/").last ?? "")
        let tokens = request.value(forHTTPHeaderField: "nv-authorizations") ?? ""
        let (isSent, gate) = state.withLock { state in
            // A request canceled before it is sent never reaches the service; checked in the lock, as a teardown may follow immediately.
            guard !Task.isCancelled else { return (false, nil as Gate?) }
            state.log.append("\(step) \(tokens)")
            state.note(step, tokens)
            return (true, state.gates.removeValue(forKey: step))
        }
        guard isSent else { return .hang }
        await withTaskCancellationHandler {
            await gate?.wait()
        } onCancel: {
            gate?.open()
        }
        return state.withLock { $0.reply(to: step, tokens, isGivenUp: Task.isCancelled) }
    }
}

extension FakeSessionService.State {
    mutating func reply(to step: String, _ tokens: String, isGivenUp: Bool) -> FakeTransport.Step {
        if step == "setup" { setupsUnderWay -= 1 }
        // A client that gets no reply to a setup cannot end the session, so there is none.
        guard !isGivenUp else { return .hang }
        let fault = faults[step, default: []].first
        if fault != nil { faults[step]?.removeFirst() }
        let token = Self.last(tokens)
        if let fault { return fault }
        switch step {
        case "setup": return .ok(#"{"sessionToken":"\#(newToken(for: nil))","heartbeat":\#(heartbeat)}"#)
        case "heartbeat": return .ok(#"{"sessionToken":"\#(newToken(for: sessions[token]))"}"#)
        case "teardown":
            sessions[token].map { _ = open.remove($0) }
            return .ok("{}")
        default:
            let more = isEnforced && step == "license" ? #","sessionToken":"\#(token)""# : ""
            return .ok(#"{"CkcMessage":"\#(SampleBytes.ckc().base64EncodedString())"\#(more)}"#)
        }
    }

    fileprivate mutating func note(_ step: String, _ tokens: String) {
        guard step != "setup" else {
            setupsUnderWay += 1
            mostSetups = max(mostSetups, setupsUnderWay)
            return
        }
        guard let session = sessions[Self.last(tokens)], !ending.contains(session) else {
            return unknown.append("\(step) \(tokens)")
        }
        if step == "teardown" { ending.insert(session) }
    }

    private mutating func newToken(for session: Int?) -> String {
        let token = "SESSION-\(sessions.count + 1)"
        let session = session ?? sessions.count + 1
        sessions[token] = session
        open.insert(session)
        return token
    }

    private static func last(_ tokens: String) -> String {
        tokens.split(separator: ",").last.map(String.init) ?? ""
    }
}

/// A loader of NAGRA's profile over that service, with a player that asks again on request.
final class SessionHarness: Sendable {
    static let key: KeyURI = "skd://ZGVtby0x?x=1"
    static let period = Duration.seconds(100)

    let service = FakeSessionService()
    let clock = ManualTimekeeper()
    let transport: FakeTransport
    /// The requests for credentials that the app got.
    let asked = Locked<[Credentials.Request]>([])
    private let owned: Locked<ContentKeyLoader?>
    private let heard = Locked((renewals: 0, requests: [FakeKeyRequest]()))
    private let player = Locked<(@Sendable () -> Bool)?>(nil)

    init(_ settings: [String: String] = [:], retry: RetryPolicy = .regular) {
        transport = FakeTransport { [service] request, _ in await service.answer(request) }
        let requests = asked
        let base = "https://demo.anycast.nagra.com/DEMO/fpls/contentlicenseservice/v1"
        let addresses = [
            "certificateURL": base + "/certificates", "licenseURL": base + "/licenses",
            "sessionURL": "https://demo-ssm.anycast.nagra.com/DEMO/ssm/v1/",
        ]
        owned = Locked(
            ContentKeyLoader(
                VendorProfile.nagra.with(addresses).with(settings).unchecked,
                credentials: .token { request in
                    requests.withLock { requests in
                        requests.append(request)
                        return "TOKEN-\(requests.count)"
                    }
                }, configuration: LoaderConfiguration(retry: retry, certificateFetch: .withFirstKey),
                transport: transport, timekeeper: clock, generator: { SeededGenerator(seed: 7) }))
    }

    var loader: ContentKeyLoader {
        get throws { try #require(owned.withLock { $0 }) }
    }
    var session: SecureSession {
        get throws {
            let loader = try loader
            return try #require(loader.sessions?[existing: .only])
        }
    }
    /// The errors with which keys ended.
    var failures: [ContentKeyError] { heard.withLock { $0.requests }.flatMap(\.ends) }
    var renewals: Int { heard.withLock { $0.renewals } }

    /// Waits until the service has noted a number of requests, which is after the transport counts them.
    func untilLogged(_ count: Int) async { while service.log.count < count, !Task.isCancelled { await Task.yield() } }

    /// Waits until a key ended with an error, which is after the session's state reports it.
    func untilFailed() async { while failures.isEmpty, !Task.isCancelled { await Task.yield() } }

    /// Waits until the player was asked to renew its key, which is after the time that it has for that begins.
    func untilAskedToRenew() async { while renewals == 0, !Task.isCancelled { await Task.yield() } }

    /// Makes the player renew its key when asked to, or promise it and never do it. Without this it cannot.
    func attachPlayer(comes: Bool = true) {
        player.withLock { player in
            player = { [weak self] in
                self?.heard.withLock { $0.renewals += 1 }
                if comes, let self { _ = try? loader.answer(request(.renewal)) }
                return true
            }
        }
    }

    /// A request of the player.
    func request(
        _ purpose: KeyPurpose = .streaming, spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc }
    ) -> FakeKeyRequest {
        let request = FakeKeyRequest(
            Self.key, purpose: purpose, spc: spc, renewing: { [player] _ in player.withLock { $0 }?() ?? false })
        heard.withLock { $0.requests.append(request) }
        return request
    }

    /// The answer to one key request.
    @discardableResult
    func answer(_ purpose: KeyPurpose = .streaming) async throws -> FakeKeyRequest.Answer {
        let request = request(purpose)
        try loader.answer(request)
        return await request.firstAnswer()
    }

    /// Lets the last handle of the loader go.
    func dropLoader() { owned.withLock { $0 = nil } }

    /// Lets a heartbeat come due, for a player that has the answers to its requests: a session continues before its renewal is
    /// answered, and the deadline of that request may not pass in between.
    func passPeriod() async {
        for request in heard.withLock({ $0.requests }) { _ = await request.firstAnswer() }
        await clock.untilSomeoneSleeps(for: Self.period)
        clock.advance(by: Self.period)
    }

    /// Whether no task waits for time to pass, as soon as that is so.
    func hasNoTimer() async -> Bool { await clock.isQuiet() }
}

extension AsyncStream<KeyEvent>.Iterator {
    /// The session's states up to and with one.
    mutating func states(until last: SessionState) async -> [SessionState] {
        var states: [SessionState] = []
        while let event = await next() {
            guard case .session(let state) = event.kind else { continue }
            states.append(state)
            if state == last { break }
        }
        return states
    }
}

extension ManualTimekeeper {
    /// Whether no task waits for time to pass, as soon as that is so.
    func isQuiet() async -> Bool {
        while sleeperCount > 0 {
            if Task.isCancelled { return false }
            await Task.yield()
        }
        return true
    }
}
