import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine

@Suite(.timeLimit(.minutes(1))) struct LoadRunTests {
    /// Gives set answers after a set time, and counts.
    private final class Service: LoadCarrier {
        private let state = Locked<(count: Int, bodies: Set<Data>)>((0, []))
        private let delay: Duration
        private let time: VirtualTime
        private let answer: @Sendable (Int) -> LoadReply

        init(_ time: VirtualTime, after delay: Duration = .zero, _ answer: @escaping @Sendable (Int) -> LoadReply) {
            (self.time, self.delay, self.answer) = (time, delay, answer)
        }

        var count: Int { state.withLock { $0.count } }
        var spcs: Int { state.withLock { $0.bodies.count } }

        func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
            let number = state.withLock { state in
                state.count += 1
                state.bodies.insert(request.body)
                return state.count - 1
            }
            if delay > .zero { try? await time.sleep(for: delay) }
            return answer(number)
        }
    }

    private static let credentials = Result { try TestCredentials.make(bits: 1024) }

    private static func crowd(viewers: Int, slotPart: Double = 0) throws -> LoadCrowd {
        let credentials = try credentials.get()
        return try LoadCrowd(
            credentials.credential.certificate, credentials.applicationSecret,
            contents: [ContentIdentifier("skd://load/1")], viewers: viewers, slotPart: slotPart)
    }

    private func report(
        _ plan: LoadPlan, after delay: Duration = .zero, _ answer: @escaping @Sendable (Int) -> LoadReply
    ) async throws -> (LoadReport, Service) {
        let time = VirtualTime()
        let service = Service(time, after: delay, answer)
        let url = try #require(URL(string: "http://127.0.0.1/t/demo/fairplay"))
        let crowd = try Self.crowd(viewers: plan.viewers, slotPart: plan.slotPart)
        let report = try await time.run {
            await LoadRun(
                plan: plan, license: url, heartbeats: url, crowd: crowd, tokens: .none(), carrier: service,
                timekeeper: time
            ).run()
        }
        return (report, service)
    }

    private static let refusal = Data(#"{"error": {"code": "slots"}}"#.utf8)

    private func plan(_ change: (inout LoadPlan) -> Void = { _ in }) -> LoadPlan {
        var plan = LoadPlan()
        (plan.rate, plan.arrivals) = (10, .fixed)
        change(&plan)
        return plan
    }

    @Test func `playbacks begin on schedule however slow the server is`() async throws {
        let (report, service) = try await report(plan(), after: .seconds(3)) { _ in
            LoadReply(status: 403, body: Self.refusal)
        }
        #expect(service.count == 99)
        #expect(report.starts == 99)
        #expect(report.requests["refused"]?.p50 == 3_000)
        #expect(report.replies == ["403 slots": 99])
        #expect(report.lost == 0)
    }

    @Test func `a license that the device cannot open is unreadable`() async throws {
        let (report, _) = try await report(plan { $0.viewers = 1 }) { _ in LoadReply(status: 200, body: Data([1])) }
        #expect(report.questions == ["start": ["unreadable": 1, "granted": 98]])
        #expect(report.lost == 1)
    }

    @Test func `a request without a reply is retried, and lost only if that fails too`() async throws {
        let once = { @Sendable (number: Int) in number % 2 == 0 ? LoadReply.none("reset") : LoadReply(status: 204) }
        let (healed, _) = try await report(
            plan {
                $0.retries = 1; $0.rate = 1
            }, once)
        #expect(healed.lost == 0)
        #expect(healed.retries == 9)
        let (broken, _) = try await report(plan { $0.rate = 1 }, once)
        #expect(broken.lost == 5)
        #expect(!broken.isComplete)
    }

    @Test(arguments: [(true, 7.0), (false, 0.1)])
    func `a device waits as Retry-After says, unless it ignores it`(obeys: Bool, seconds: Double) async throws {
        let plan = plan { plan in
            (plan.rate, plan.length, plan.retries, plan.obeysRetryAfter) = (1, .seconds(2), 1, obeys)
        }
        let (report, _) = try await report(plan) { number in
            LoadReply(status: number == 0 ? 503 : 204, body: Data()) { $0 == "retry-after" ? "7" : nil }
        }
        #expect(report.seconds == 1 + seconds)
        #expect(report.retryAfters == 1)
        #expect(report.questions == ["start": ["granted": 1]])
    }

    @Test func `a viewer renews and sends heartbeats as long as it watches`() async throws {
        let plan = plan { plan in
            (plan.rate, plan.length, plan.watching) = (1, .seconds(2), .seconds(100))
        }
        let (report, service) = try await report(plan) { _ in
            LoadReply(status: 204, body: Data()) { name in
                ["x-latchkey-renew-after": "40", "x-latchkey-heartbeat": "30", "x-latchkey-heartbeat-token": "t"][name]
            }
        }
        #expect(
            report.questions == ["start": ["granted": 1], "renewal": ["granted": 2], "heartbeat": ["granted": 3]])
        // One for starts, one for renewals, and nothing for heartbeats.
        #expect(service.spcs == 3)
    }

    @Test func `a non-FairPlay playback takes a slot, renews it, and sends heartbeats`() async throws {
        let plan = plan { plan in
            (plan.rate, plan.length, plan.watching, plan.slotPart) = (1, .seconds(2), .seconds(100), 1)
        }
        let slot = Data(#"{"state":"taken","renewAfter":40,"heartbeat":30,"heartbeatToken":"t"}"#.utf8)
        let (report, service) = try await report(plan) { _ in LoadReply(status: 200, body: slot) }
        #expect(
            report.questions
                == ["slot": ["granted": 1], "slotRenewal": ["granted": 2], "slotHeartbeat": ["granted": 3]])
        #expect(report.opened == 0 && report.text.contains("licenses, slots and heartbeats a second"))
        // The same request each time, and nothing for heartbeats.
        #expect(service.spcs == 2)
    }

    @Test func `as many playbacks take slots as planned`() async throws {
        let crowd = try Self.crowd(viewers: 100, slotPart: 0.25)
        let ways = (0..<4_000).compactMap { crowd.playback($0)?.way }
        let slots = ways.filter { if case .slots = $0 { true } else { false } }.count
        #expect(ways.count == 4_000 && (900...1_100).contains(slots))
    }

    @Test func `concurrent playbacks stay within the plan's limit`() async throws {
        let (report, _) = try await report(plan { $0.mostPlaybacks = 5 }, after: .seconds(60)) { _ in
            LoadReply(status: 204)
        }
        #expect(report.starts == 5)
        #expect(report.notStarted == 94)
    }
}
