import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @_spi(Integrations) @testable import Latchkey

/// Invariants of keys in any order of events: replies, failures, cancellations, jumps of the clocks, and
/// misbehaving players.
@Suite(.timeLimit(.minutes(5))) struct LifecyclePropertyTests {
    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `any order of events keeps a key's invariants`(seed: UInt64) async throws {
        let time = VirtualTime()
        try await time.run {
            let stage = WildStage(time, seed: seed)
            for _ in 0..<60 { try await stage.step() }
            await stage.end()

            let requests = stage.requests
            #expect(requests.allSatisfy { $0.answers == 1 || $0.isAbandoned }, "one answer per request")
            #expect(requests.allSatisfy { $0.answers <= 1 })
            #expect(requests.allSatisfy { $0.ends <= 1 }, "one end per key")
            #expect(requests.allSatisfy { $0.lateCalls.isEmpty }, "\(requests.flatMap(\.lateCalls))")
            #expect(time.sleeperCount == stage.latePlayers, "no timer after teardown")
            let sent = stage.sent
            try await time.sleep(for: .seconds(10_000))
            #expect(stage.sent == sent && requests.count == stage.requests.count, "nothing happens after teardown")
        }
    }
}

/// Keys of a loader, a service that fails at will, and a player that misbehaves at will.
private final class WildStage: Sendable {
    enum Service: CaseIterable { case answers, refuses, fails, hangs }

    private struct State {
        var generator: SeededGenerator
        var service = Service.answers
        var requests: [WildRequest] = []
        var handles: [(request: WildRequest, handle: KeyRequest)] = []
        var isOver = false
        var latePlayers = 0
    }

    private let time: VirtualTime
    private let transport: FakeTransport
    private let loader: ContentKeyLoader
    private let state: Locked<State>

    init(_ time: VirtualTime, seed: UInt64) {
        let state = Locked(State(generator: SeededGenerator(seed: seed)))
        let transport = FakeTransport { _, number in
            switch state.withLock({ $0.service }) {
            case .answers: .ok(SampleBytes.ckc(number))
            case .refuses: .status(403)
            case .fails: .failure(TransportError(.connectionLost, "It ended."))
            case .hangs: .hang
            }
        }
        let generators = Locked(SeededGenerator(seed: seed))
        self.time = time
        self.transport = transport
        self.state = state
        loader = ContentKeyLoader(
            TermedVendor(terms: LicenseTerms(.lease(.seconds(600)))), configuration: LoaderConfiguration(),
            transport: transport, timekeeper: time,
            generator: { SeededGenerator(seed: generators.withLock { $0.next() }) })
    }

    var requests: [WildRequest] { state.withLock { $0.requests } }
    /// How many players wait before they ask for a renewal.
    var latePlayers: Int { state.withLock { $0.latePlayers } }
    var sent: Int { transport.requests.count }

    func random(_ range: Range<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.generator) } }

    /// Lets one thing happen.
    func step() async throws {
        switch random(0..<14) {
        case 0...2: ask(["a", "b", "c"][random(0..<3)], .streaming)
        case 3: ask(["a", "b", "c"][random(0..<3)], .renewal)
        case 4: handle()?.cancel()
        case 5: handle()?.release()
        case 6: abandon()
        case 7: loader.suspend(.only)
        case 8: loader.resume(.only)
        case 9: time.jump(by: .seconds([1, 100, 500, 2_000][random(0..<4)]))
        case 10: time.setDate(time.date.addingTimeInterval([-100_000, -500, 500, 100_000][random(0..<4)]))
        case 11: state.withLock { $0.service = Service.allCases.randomElement(using: &$0.generator) ?? .answers }
        case 12: if random(0..<3) == 0 { loader.release(.only) }
        default: break
        }
        try await time.sleep(for: .milliseconds([0, 1, 5_000, 60_000, 200_000][random(0..<5)]))
    }

    /// Ends the loader, and lets hanging work notice it.
    func end() async {
        state.withLock { $0.isOver = true }
        loader.cancel()
        try? await time.sleep(for: .milliseconds(1))
    }

    @discardableResult
    func ask(_ name: String, _ purpose: KeyPurpose) -> KeyRequest? {
        guard !state.withLock({ $0.isOver }) else { return nil }
        let player = PlayerID(["one", "two"][random(0..<2)])
        return send(WildRequest(KeyURI("skd://keys.example.com/\(name)"), purpose, player, self))
    }

    func send(_ request: WildRequest) -> KeyRequest {
        state.withLock { $0.requests.append(request) }
        let handle = loader.answer(request)
        state.withLock { $0.handles.append((request, handle)) }
        return handle
    }

    private func handle() -> KeyRequest? {
        state.withLock { state in state.handles.randomElement(using: &state.generator)?.handle }
    }

    private func abandon() {
        guard let (request, handle) = state.withLock({ $0.handles.randomElement(using: &$0.generator) }) else { return }
        request.abandon()
        handle.abandon()
    }

    /// The player's answer to a renewal.
    func renew(_ request: WildRequest) -> Bool {
        let renewal = { @Sendable in WildRequest(request.keyURI, .renewal, request.player, self) }
        switch random(0..<8) {
        case 0: return false
        case 1: return true
        case 2:
            _ = send(renewal())
            _ = send(renewal())
        case 3: send(renewal()).cancel()
        case 4: send(renewal()).release()
        case 5:
            let delay = Duration.seconds(random(1..<400))
            state.withLock { $0.latePlayers += 1 }
            startTask { [self, time] in
                try? await time.sleep(for: delay)
                state.withLock { $0.latePlayers -= 1 }
                if !state.withLock({ $0.isOver }) { _ = send(renewal()) }
            }
        default: _ = send(renewal())
        }
        return true
    }
}

/// A key request that notes calls that should not come.
private final class WildRequest: PlayerKeyRequest {
    private struct State {
        var answers = 0
        var ends = 0
        var isAbandoned = false
        var lateCalls: [String] = []
    }

    let keyURI: KeyURI
    let purpose: KeyPurpose
    let player: PlayerID
    private let stage: WildStage
    private let state = Locked(State())

    init(_ keyURI: KeyURI, _ purpose: KeyPurpose, _ player: PlayerID, _ stage: WildStage) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.player = player
        self.stage = stage
    }

    var answers: Int { state.withLock { $0.answers } }
    var ends: Int { state.withLock { $0.ends } }
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }
    var lateCalls: [String] { state.withLock { $0.lateCalls } }

    func abandon() { state.withLock { $0.isAbandoned = true } }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        for _ in 0..<stage.random(0..<3) { await Task.yield() }
        return SampleBytes.spc
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        state.withLock { state in
            if state.isAbandoned { state.lateCalls.append("answer after abandoning") }
            state.answers += 1
        }
    }

    func renew() -> Bool {
        state.withLock { state in
            if state.ends > 0 { state.lateCalls.append("renew after the end") }
            if state.answers == 0 { state.lateCalls.append("renew before the answer") }
        }
        return stage.renew(self)
    }

    func ended(_ error: ContentKeyError) {
        state.withLock { state in
            if state.answers == 0 { state.lateCalls.append("end before the answer") }
            state.ends += 1
        }
    }
}
