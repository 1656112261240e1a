import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// The invariants of a session in any order of events.
@Suite(.timeLimit(.minutes(5))) struct SessionPropertyTests {
    @Test(arguments: Array(1...60) + [231, 551, 815, 855, 990] as [UInt64])
    func `any order of keys, failures, sources and sleep is safe`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let harness = SessionHarness(retry: .never)
        if Bool.random(using: &generator) { harness.service.enforce() }
        harness.attachPlayer(comes: Int.random(in: 0..<4, using: &generator) > 0)
        let events = try harness.loader.events()
        var requests: [FakeKeyRequest] = []
        var gates: [Gate] = []
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...2:
                let request = harness.request(Int.random(in: 0..<5, using: &generator) == 0 ? .renewal : .streaming)
                let handle = try harness.loader.answer(request)
                if Int.random(in: 0..<6, using: &generator) == 0 { handle.cancel() }
                requests.append(request)
            case 3, 4: harness.clock.advance(by: .seconds([1, 20, 100, 250].randomElement(using: &generator) ?? 1))
            case 5: try harness.loader.release(.only)
            case 6: try harness.loader.suspend(.only)
            case 7: try harness.loader.resume(.only)
            case 8:
                let step = ["setup", "heartbeat", "teardown", "license", "renew"].randomElement(using: &generator)
                if Bool.random(using: &generator) {
                    gates.append(harness.service.hold(step ?? "setup"))
                } else {
                    harness.service.fault(
                        step ?? "setup", .status([400, 403, 500].randomElement(using: &generator) ?? 400))
                }
            default: if let gate = gates.popLast() { gate.open() }
            }
            for _ in 0..<Int.random(in: 0..<30, using: &generator) { await Task.yield() }
        }
        for gate in gates { gate.open() }
        try harness.loader.cancel()
        for request in requests { _ = await request.firstAnswer() }
        #expect(requests.allSatisfy { $0.answers.count == 1 })
        #expect(try await harness.hasEnded())
        harness.dropLoader()
        check(harness.service, await events.sessionStates())
    }

    private func check(_ service: FakeSessionService, _ states: [SessionState]) {
        #expect(service.mostSetups <= 1)
        #expect(zip([.off] + states, states).allSatisfy { $0.successors.contains($1) }, "\(states)")
        #expect(states.last == .off || states.isEmpty)
        let setups = zip(states, states.dropFirst()).count { $0 == .setupRequested && $1 == .on }
        let teardowns = service.log.count { $0.hasPrefix("teardown") }
        // Every session ends once, and gets no requests afterwards; a jump of the clock may meet a request before it is sent.
        #expect(states.count { $0 == .teardownRequested } == setups)
        #expect(teardowns <= setups && setups <= service.sessionCount)
        #expect(service.unknown.isEmpty, "\(service.log)")
    }
}

extension SessionHarness {
    /// Whether the session is off and no task waits for time to pass, as soon as that is so; requests that hang are given time.
    fileprivate func hasEnded() async throws -> Bool {
        var turn = 0
        while !Task.isCancelled {
            let state = try await loader.sessionState(of: .only)
            if state ?? .off == .off, clock.sleeperCount == 0 { return true }
            turn += 1
            if turn.isMultiple(of: 20_000) { clock.advance(by: .seconds(10)) }
            await Task.yield()
        }
        return false
    }
}

extension AsyncStream<KeyEvent> {
    /// All states of the session, once the loader is released.
    fileprivate func sessionStates() async -> [SessionState] {
        var states: [SessionState] = []
        for await event in self {
            if case .session(let state) = event.kind { states.append(state) }
        }
        return states
    }
}
