import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeySystem

@Suite(.timeLimit(.minutes(5))) struct EntitlementCalloutTests {
    private typealias Callout = EntitlementCallout<String>

    /// The operator's service: its answers, and who asked.
    private final class Service: Sendable {
        struct Down: Error {}
        let answer = Locked<Callout.Answer?>(.granted("gold"))
        let asked = Locked<[EntitlementQuestion]>([])
        let events = Locked<[Callout.Event]>([])
        let clock = ManualTimekeeper()

        func callout(
            _ limits: EntitlementLimits = EntitlementLimits(), patience: Duration = .seconds(2),
            outage: OutageRule = .refuse, gate: Gate? = nil
        ) -> Callout {
            Callout(
                limits, outage: outage,
                health: EngineHealth(
                    "callout", limits: .init(patience: patience, pause: .seconds(10)), timekeeper: clock),
                timekeeper: clock,
                report: { event in self.events.withLock { $0.append(event) } }
            ) { question in
                self.asked.withLock { $0.append(question) }
                await gate?.wait()
                guard let answer = self.answer.withLock({ $0 }) else { throw Down() }
                return answer
            }
        }

        var count: Int { asked.withLock { $0.count } }
    }

    private let service = Service()
    private let question = EntitlementQuestion(user: "u", asset: "a")

    /// A verdict as text: the grant, `unchecked`, or the code of the refusal.
    private func ask(_ callout: Callout, _ question: EntitlementQuestion? = nil) async throws -> String {
        switch try await callout.verdict(on: question ?? self.question) {
        case .granted(let grant): grant
        case .unchecked: "unchecked"
        case .refused(let refusal): refusal.code
        }
    }

    @Test func `the service's answer decides`() async throws {
        #expect(try await ask(service.callout()) == "gold")
        service.answer.withLock { $0 = .denied }
        #expect(try await ask(service.callout()) == "notEntitled")
        #expect(service.asked.withLock { $0 } == [question, question])
        #expect(LicenseRefusal.notEntitled.status == 403)
    }

    @Test func `an answer is kept for seconds, for its user and asset`() async throws {
        let callout = service.callout()
        #expect(try await ask(callout) == "gold")
        service.answer.withLock { $0 = .denied }
        service.clock.advance(by: .milliseconds(4_999))
        #expect(try await ask(callout) == "gold")
        #expect(try await ask(callout, EntitlementQuestion(user: "u", asset: "b")) == "notEntitled")
        #expect(try await ask(callout, EntitlementQuestion(user: "v", asset: "a")) == "notEntitled")
        service.clock.advance(by: .milliseconds(1))
        #expect(try await ask(callout) == "notEntitled")
        #expect(service.count == 4)
    }

    @Test func `without a memory every license asks`() async throws {
        let callout = service.callout(EntitlementLimits(memory: .zero))
        for _ in 0..<3 { #expect(try await ask(callout) == "gold") }
        #expect(service.count == 3)
    }

    @Test func `equal concurrent questions share one request`() async throws {
        let (time, asked, question) = (VirtualTime(), Locked(0), question)
        let granted = try await time.run {
            let callout = Callout(EntitlementLimits(memory: .zero), outage: .refuse, timekeeper: time) { _ in
                asked.withLock { $0 += 1 }
                try await time.sleep(for: .milliseconds(500))
                return .granted("gold")
            }
            return try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        guard case .granted = try await callout.verdict(on: question) else { return false }
                        return true
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        #expect(granted == 5)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a cancelled caller does not stop the question`() async throws {
        let gate = Gate()
        let callout = service.callout(gate: gate)
        let first = Task { try await ask(callout) }
        await gate.untilSomeoneArrives()
        let other = Task { try await ask(callout) }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        gate.open()
        #expect(try await first.value == "gold")
    }

    @Test(arguments: [(OutageRule.allow, "unchecked"), (.refuse, "entitlementUnavailable")])
    func `a service that takes longer than a second does not answer`(_ rule: OutageRule, _ verdict: String)
        async throws
    {
        let gate = Gate()
        let callout = service.callout(outage: rule, gate: gate)
        let asking = Task { try await ask(callout) }
        await service.clock.untilSomeoneSleeps(for: .seconds(1))
        service.clock.advance(by: .seconds(1))
        #expect(try await asking.value == verdict)
        gate.open()
        #expect(LicenseRefusal.entitlementUnavailable.status == 503)
    }

    @Test func `a late answer counts for no caller`() async throws {
        let gate = Gate()
        let callout = service.callout(gate: gate)
        let asking = Task { try await ask(callout) }
        await service.clock.untilSomeoneSleeps(for: .seconds(1))
        service.clock.advance(by: .seconds(1))
        _ = try await asking.value
        gate.open()
        service.answer.withLock { $0 = .denied }
        #expect(try await ask(callout) == "notEntitled")
    }

    @Test func `a failing service is left alone for a while, then tried by one unblocked caller`() async throws {
        let callout = service.callout()
        service.answer.withLock { $0 = nil }
        for _ in 0..<5 { #expect(try await ask(callout) == "entitlementUnavailable") }
        #expect(service.count == 5 && !callout.isLeftAlone)
        service.clock.advance(by: .seconds(2))
        for _ in 0..<5 { #expect(try await ask(callout) == "entitlementUnavailable") }
        #expect(service.count == 6 && callout.isLeftAlone)
        service.clock.advance(by: .seconds(10))
        #expect(try await ask(callout) == "entitlementUnavailable")
        #expect(try await ask(callout) == "entitlementUnavailable")
        while callout.guarded.health.isAsking { await Task.yield() }
        #expect(service.count == 7)
        service.clock.advance(by: .seconds(10))
        service.answer.withLock { $0 = .granted("silver") }
        #expect(try await ask(callout) == "entitlementUnavailable")
        while callout.isLeftAlone { await Task.yield() }
        #expect(try await ask(callout) == "silver")
    }

    @Test func `no caller waits for a service known to hang`() async throws {
        let gate = Gate()
        let callout = service.callout(gate: gate)
        for _ in 0..<3 {
            async let verdict = ask(callout)
            await service.clock.untilSomeoneSleeps(for: .seconds(1))
            service.clock.advance(by: .seconds(1))
            #expect(try await verdict == "entitlementUnavailable")
        }
        for number in 4...10 {
            service.clock.advance(by: .seconds(10))
            // The clock is stopped: a waiting caller would never return.
            for _ in 0..<3 { #expect(try await ask(callout) == "entitlementUnavailable") }
            await service.clock.untilSomeoneSleeps(for: .seconds(1))
            while service.count < number { await Task.yield() }
            #expect(service.count == number)
            service.clock.advance(by: .seconds(1))
            while callout.guarded.health.isAsking { await Task.yield() }
        }
        gate.open()
    }

    @Test func `answers are repeated while the breaker is open`() async throws {
        let callout = service.callout(
            EntitlementLimits(memory: .seconds(60)), patience: .zero)
        #expect(try await ask(callout) == "gold")
        service.answer.withLock { $0 = nil }
        #expect(try await ask(callout, EntitlementQuestion(user: "v", asset: "a")) == "entitlementUnavailable")
        #expect(callout.isLeftAlone)
        #expect(try await ask(callout) == "gold")
    }

    @Test func `a denial never opens the breaker`() async throws {
        let callout = service.callout()
        service.answer.withLock { $0 = .denied }
        for number in 0..<5 {
            #expect(try await ask(callout, EntitlementQuestion(user: "\(number)", asset: "a")) == "notEntitled")
        }
        #expect(!callout.isLeftAlone)
    }

    @Test func `other 4xx refuse the viewer with the number and open no breaker`() async throws {
        let callout = service.callout()
        service.answer.withLock { $0 = .rejected(status: 409) }
        for number in 0..<5 {
            let question = EntitlementQuestion(user: "\(number)", asset: "a")
            guard case .refused(let refusal) = try await callout.verdict(on: question) else {
                return #expect(Bool(false), "was let in") as Void
            }
            #expect(refusal.code == "notEntitled" && refusal.status == 403)
            #expect(refusal.reason.contains("409"))
        }
        #expect(!callout.isLeftAlone)
        #expect(service.events.withLock { $0 } == [])
    }

    @Test(arguments: [401, 407]) func `a service that rejects this server is reported once a minute`(
        _ status: Int
    ) async throws {
        let callout = service.callout(EntitlementLimits(memory: .zero))
        service.answer.withLock { $0 = .rejected(status: status) }
        for _ in 0..<3 { #expect(try await ask(callout) == "notEntitled") }
        #expect(service.events.withLock { $0 } == [.unauthorized(status: status)])
        service.clock.advance(by: .seconds(60))
        #expect(try await ask(callout) == "notEntitled")
        #expect(service.events.withLock { $0.count } == 2)
        #expect(!callout.isLeftAlone)
    }

    @Test func `a missing answer's cause is reported, without an unknown error's text`() async throws {
        struct Planted: Error, CustomStringConvertible { let description = "PLANTED" }
        let failures: [any Error] = [
            Diagnosis.callout(status: 503), TransportError(.cannotConnect, "h:1 refuses connections."), Planted(),
        ]
        var texts: [String] = []
        for failure in failures {
            let events = Locked<[Callout.Event]>([])
            let callout = Callout(
                outage: .refuse, timekeeper: service.clock, report: { event in events.withLock { $0.append(event) } }
            ) { _ in throw failure }
            #expect(try await ask(callout) == "entitlementUnavailable")
            guard case .failed(let told)? = events.withLock({ $0.first }) else { return #expect(Bool(false)) as Void }
            texts.append(told.reason)
        }
        #expect(texts[0].contains("503") && texts[1].contains("refuses connections"))
        #expect(texts[2].contains("Planted") && !texts[2].contains("PLANTED"))
    }

    @Test(arguments: [
        (200, EntitlementStatus.yes), (204, .yes), (403, .no), (404, .no), (400, .rejected), (401, .rejected),
        (402, .rejected), (407, .rejected), (409, .rejected), (410, .rejected), (422, .rejected), (451, .rejected),
        (408, .outage), (425, .outage), (429, .outage), (500, .outage), (503, .outage), (302, .outage), (202, .outage),
    ])
    func `statuses are mapped`(_ status: Int, _ meaning: EntitlementStatus) {
        #expect(EntitlementStatus(status) == meaning)
    }

    @Test func `a transport that cancels itself gave no answer`() async throws {
        let callout = Callout(outage: .allow, timekeeper: service.clock) { _ in throw CancellationError() }
        #expect(try await ask(callout) == "unchecked")
    }
}

extension EntitlementCallout {
    fileprivate var isLeftAlone: Bool { guarded.health.isLeftAlone(for: EngineWork(.read)) }
}
