import Testing

@_spi(Adapters) @testable import Latchkey

/// Every order of requests, replies, cancellations, deadlines, retries, renewals, releases and the session's death, for three keys.
@Suite(.timeLimit(.minutes(5))) struct KeyRequestExplorerTests {
    @Test func `every order of events keeps a request's invariants`() {
        let (violation, states) = KeyRequestExplorer(depth: 6).explore()
        #expect(violation == nil, "\(violation.map(\.description) ?? "")")
        #expect(states > 1_000)
    }

    @Test(arguments: KeyRequestFault.allCases)
    func `a fault is found`(_ fault: KeyRequestFault) {
        let (violation, states) = KeyRequestExplorer(depth: 5, fault: fault).explore()
        #expect(violation != nil, "\(states) states")
    }

    @Test func `a session's renewal asks for every key except one being renewed`() {
        var world = World()
        let events: [KeyRequestExplorer.Event] = [
            .request(key: 0), .reply(1), .request(key: 1), .reply(2), .renewal(key: 0),
        ]
        for event in events { #expect(world.apply(event, nil) == nil) }
        var chance = NoChance()
        let renewed = world.table.renewAll(.only, at: world.now, using: &chance).compactMap { effect in
            if case .renew(let request) = effect { request.number } else { nil }
        }
        #expect(renewed == [2])
        #expect(world.table[1] == .renewing(by: 3))
    }

    @Test func `an ended request stays ended, and any other can end`() {
        let states: [KeyRequestState] = [
            .pending, .stopping, .held(renewal: nil), .renewalDue(until: .zero), .renewing(by: 1),
        ]
        #expect(states.allSatisfy { $0.canBecome(.ended) && !KeyRequestState.ended.canBecome($0) })
        #expect(states.allSatisfy { !$0.canBecome(.pending) })
    }
}
