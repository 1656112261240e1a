import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Many concurrent keys, and few requests at a time.
@Suite(.timeLimit(.minutes(5))) struct HostLimitTests {
    /// Keys on four hosts.
    private static func requests(_ count: Int = 1_000) -> [FakeKeyRequest] {
        (0..<count).map { FakeKeyRequest(KeyURI("skd://license-\($0 % 4).example.com/key-\($0)")) }
    }

    private static let hosts = HostPolicy(allowed: ["*.example.com"])

    @Test func `a thousand concurrent keys take one certificate and few requests per host, with one answer each`()
        async
    {
        let service = CrowdedService()
        let harness = Harness(over: service.transport) { $0.hosts = Self.hosts }
        let requests = Self.requests()
        for request in requests { harness.loader.answer(request) }
        for request in requests { #expect(await request.firstAnswer().ckc == SampleBytes.ckc()) }

        #expect(requests.allSatisfy { $0.answers.count == 1 })
        #expect(harness.transport.requests.count { $0.httpMethod == "GET" } == 1)
        #expect(harness.posts.count == 1_000)
        #expect(service.most.count == 5 && service.most.values.allSatisfy { $0 <= 6 })
        #expect(harness.credentials.reasons.count == 1_000)
        #expect(harness.loader.caller.limiter.activityCount == 0)
    }

    @Test(arguments: 1...3) func `cancelling half of many keys at random answers the rest`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let service = CrowdedService()
        let harness = Harness(over: service.transport) { $0.hosts = Self.hosts }
        let requests = Self.requests(200)
        let handles = requests.map { harness.loader.answer($0) }
        let cancelled = Set(requests.indices.shuffled(using: &generator).prefix(100))
        for index in cancelled.shuffled(using: &generator) {
            // Between two of them, other keys have got on by a step or none.
            if Bool.random(using: &generator) { await Task.yield() }
            handles[index].cancel()
        }
        for (index, request) in requests.enumerated() {
            let answer = await request.firstAnswer()
            #expect(answer.ckc == SampleBytes.ckc() || (cancelled.contains(index) && answer.error?.code == "cancelled"))
        }
        // A request that was given up ends with its task, and then its place is free.
        for handle in handles { await handle.workEnded() }
        await service.untilIdle()
        #expect(requests.allSatisfy { $0.answers.count == 1 })
        #expect(service.most.values.allSatisfy { $0 <= 6 })
        await harness.untilNobodyWaits()
        #expect(harness.loader.caller.limiter.activityCount == 0)
    }

    @Test func `a queued key is answered at its deadline`() async {
        let harness = Harness(post: [.never]) {
            $0.requestsPerHost = 1
            $0.retry.attemptTimeout = .seconds(60)
        }
        let requests = (0..<3).map { _ in FakeKeyRequest(key) }
        for request in requests { harness.loader.answer(request) }
        await harness.transport.untilRequested(2)
        // Each key has its own deadline, and that of its license.
        while harness.clock.sleeperCount(for: .seconds(30)) < 6, !Task.isCancelled { await Task.yield() }
        harness.clock.advance(by: .seconds(30))
        for request in requests { #expect(await request.firstAnswer().error?.code == "deadlineExceeded") }
        #expect(harness.posts.count == 1)
    }

    @Test func `queueing costs an attempt none of its time`() async {
        let gate = Gate()
        let harness = Harness(
            over: FakeTransport { request, number in
                guard request.httpMethod == "POST" else { return .certificate }
                if number == 2 { await gate.wait() }
                return .ckc
            }
        ) {
            $0.requestsPerHost = 1
            $0.requestPatience = .seconds(60)
            $0.retry = RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(20))
        }
        let (first, second) = (FakeKeyRequest(key), FakeKeyRequest(key))
        harness.loader.answer(first)
        await harness.transport.untilRequested(2)
        harness.loader.answer(second)
        await harness.untilSomeoneWaits()
        harness.clock.advance(by: .seconds(19))
        gate.open()
        #expect(await first.firstAnswer().ckc == SampleBytes.ckc())
        #expect(await second.firstAnswer().ckc == SampleBytes.ckc())
    }

    @Test(arguments: [(5.0, 2), (5.1, 3)])
    func `a request that queued too long is rebuilt with a new token`(
        _ wait: Double, _ tokens: Int
    ) async {
        let gate = Gate()
        let harness = Harness(
            over: FakeTransport { request, number in
                guard request.httpMethod == "POST" else { return .certificate }
                if number == 2 { await gate.wait() }
                return .ckc
            }
        ) { $0.requestsPerHost = 1 }
        let (first, second) = (FakeKeyRequest(key), FakeKeyRequest(key))
        harness.loader.answer(first)
        await harness.transport.untilRequested(2)
        harness.loader.answer(second)
        await harness.untilSomeoneWaits()
        harness.clock.advance(by: .seconds(wait))
        gate.open()
        #expect(await first.firstAnswer().ckc == SampleBytes.ckc())
        #expect(await second.firstAnswer().ckc == SampleBytes.ckc())
        #expect(
            harness.posts.map { $0.value(forHTTPHeaderField: "x-vudrm-token") } == [1, tokens].map { "\(token)-\($0)" })
    }

    @Test func `a redirect to another host waits in its queue`() async {
        let service = CrowdedService { request in
            request.url?.host == "license-0.example.com"
                ? .status(307, [("Location", "https://elsewhere.example.com/license")]) : .ckc
        }
        let harness = Harness(over: service.transport) { $0.hosts = Self.hosts }
        let requests = Self.requests(100)
        for request in requests { harness.loader.answer(request) }
        for request in requests { #expect(await request.firstAnswer().ckc == SampleBytes.ckc()) }
        #expect(service.most["elsewhere.example.com"].map { (1...6).contains($0) } == true)
        #expect(harness.loader.caller.limiter.activityCount == 0)
    }
}

/// A service that notes how many requests each host has in flight.
private final class CrowdedService: Sendable {
    private struct State {
        var now: [String: Int] = [:]
        var most: [String: Int] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { now.values.allSatisfy { $0 == 0 } }
    }

    private let state = Locked(State())
    private let respond: @Sendable (URLRequest) -> FakeTransport.Step

    init(_ respond: @escaping @Sendable (URLRequest) -> FakeTransport.Step = { _ in .ckc }) { self.respond = respond }

    /// The most requests that were in flight at one time, by host.
    var most: [String: Int] { state.withLock { $0.most } }

    var transport: FakeTransport {
        FakeTransport { request, number in
            let host = request.url?.host ?? ""
            // A request that was given up is no longer in flight, whenever that is.
            let visit = Locked(Visit.isComing)
            await withTaskCancellationHandler {
                self.enter(host, visit)
                for _ in 0..<(number % 7) { await Task.yield() }
                self.leave(host, visit)
            } onCancel: {
                self.leave(host, visit)
            }
            return request.httpMethod == "POST" ? self.respond(request) : .certificate
        }
    }

    private enum Visit { case isComing, isHere, hasLeft }

    private func enter(_ host: String, _ visit: Locked<Visit>) {
        visit.withLock { visit in
            guard visit == .isComing else { return }
            visit = .isHere
            state.withLock { state in
                let now = state.now[host, default: 0] + 1
                state.now[host] = now
                state.most[host] = max(state.most[host, default: 0], now)
            }
        }
    }

    private func leave(_ host: String, _ visit: Locked<Visit>) {
        visit.withLock { visit in
            if visit == .isHere { takeOut(host) }
            visit = .hasLeft
        }
    }

    private func takeOut(_ host: String) {
        let waiters = state.withLock { state in
            state.now[host, default: 0] -= 1
            guard state.isIdle else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no request is in flight.
    func untilIdle() async {
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { state in
                if !state.isIdle { state.waiters.append(waiter) }
                return state.isIdle
            }
            if isIdle { waiter.resume() }
        }
    }
}

extension Harness {
    /// Waits until no request is anywhere.
    func untilNobodyWaits() async {
        while loader.caller.limiter.activityCount > 0, !Task.isCancelled { await Task.yield() }
    }

    /// Waits until a request that is made waits for the license service of `key`.
    func untilSomeoneWaits() async {
        guard let origin = URL(string: "https://fairplay-license.vudrm.tech").flatMap(Origin.init) else { return }
        while loader.caller.limiter.waiterCount(for: .sending(to: origin)) == 0, !Task.isCancelled {
            await Task.yield()
        }
    }
}
