import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision

@Suite(.timeLimit(.minutes(5))) struct KeySetSourceTests {
    /// A token service: its set, how often it was fetched, and the gate that a fetch waits for.
    private final class Service: Sendable {
        struct Down: Error {}
        let document = Locked<Data?>(nil)
        let fetches = Locked(0)
        let events = Locked<[KeySetSource.Event]>([])
        let clock = ManualTimekeeper(date: SampleTokens.now)

        func publish(_ signers: TokenSigner...) throws {
            let set = try KeySet(signers.map(\.verificationKey)).publicDocument
            document.withLock { $0 = set }
        }

        func source(gate: Gate? = nil) -> KeySetSource {
            KeySetSource.fetched(timekeeper: clock, report: { event in self.events.withLock { $0.append(event) } }) {
                self.fetches.withLock { $0 += 1 }
                await gate?.wait()
                guard let document = self.document.withLock({ $0 }) else { throw Down() }
                return document
            }
        }

        var fetchCount: Int { fetches.withLock { $0 } }
        var lastEvent: KeySetSource.Event? { events.withLock { $0.last } }
    }

    private let service = Service()
    private let old: TokenSigner
    private let new: TokenSigner

    init() throws {
        old = try TokenSigner(generating: .edDSA, id: TokenKeyID("old"))
        new = try TokenSigner(generating: .edDSA, id: TokenKeyID("new"))
    }

    private func kind(_ signer: TokenSigner, _ source: KeySetSource) async throws -> TokenError.Kind? {
        let token = try signer.token(SampleTokens.claims).revealedText
        do throws(TokenError) {
            _ = try await source.verified(token, by: TokenVerifier(), at: SampleTokens.now)
            return nil
        } catch { return error.kind }
    }

    @Test func `a verified token is refused at its end, under other rules, and without its key`() async throws {
        let source = service.source()
        try service.publish(old)
        try await source.reload()
        let text = try old.token(SampleTokens.claims).revealedText
        func error(_ text: String, _ rules: TokenRules = TokenRules(), after time: TimeInterval = 0) async -> TokenError
            .Kind?
        {
            do throws(TokenError) {
                let date = SampleTokens.now.addingTimeInterval(time)
                _ = try await source.verified(text, by: TokenVerifier(rules), at: date)
                return nil
            } catch { return error.kind }
        }
        for _ in 0..<2 { #expect(await error(text) == nil) }
        #expect(await error(text + "A") != nil)
        #expect(await error(text, TokenRules(issuers: ["https://other.example"])) == .claim)
        #expect(await error(text, after: -3_600) == .time)
        #expect(await error(text, after: 3_600) == .time)
        #expect(await error(text) == nil)
        try service.publish(new)
        try await source.reload()
        #expect(await error(text) == .key)
    }

    @Test func `only the most recently verified tokens are kept, and no expired ones`() throws {
        var tokens = VerifiedTokens()
        let verified = VerifiedToken(
            claims: [:], keyID: nil, expiry: SampleTokens.now.addingTimeInterval(60), issued: nil)
        let names = try (0..<VerifiedTokens.limit + 1).map {
            try #require(VerifiedTokens.Name("\($0)", TokenRules()))
        }
        for name in names { tokens.remember(verified, as: name, at: SampleTokens.now) }
        let (first, last) = (names[0], names[VerifiedTokens.limit])
        #expect(tokens.token(first, at: SampleTokens.now) == nil)
        #expect(tokens.token(last, at: SampleTokens.now) != nil)
        #expect(tokens.token(last, at: SampleTokens.now.addingTimeInterval(60)) == nil)
        #expect(VerifiedTokens.Name(String(repeating: "a", count: TokenRules.sizeLimit + 1), TokenRules()) == nil)
    }

    @Test func `before the first set every token is refused, and one fetches the set`() async throws {
        let source = service.source()
        #expect(try await kind(old, source) == .key)
        #expect(service.fetchCount == 1)
        #expect(source.keys.keys.isEmpty)
        guard case .kept(let error) = service.lastEvent else { throw Service.Down() }
        #expect(error.code == "keySetUnreachable")
    }

    @Test func `a token with a new key fetches the set and is verified`() async throws {
        try service.publish(old)
        let source = service.source()
        try await source.reload()
        #expect(try await kind(old, source) == nil)
        #expect(service.fetchCount == 1)
        try service.publish(old, new)
        #expect(try await kind(new, source) == nil)
        #expect(try await kind(old, source) == nil)
        #expect(service.fetchCount == 2)
        try service.publish(new)
        try await source.reload()
        #expect(try await kind(old, source) == .key)
        #expect(try await kind(new, source) == nil)
    }

    @Test func `one token with a made-up key delays a new key by a second`() async throws {
        try service.publish(old)
        let source = service.source()
        try await source.reload()
        for _ in 0..<5 { #expect(try await kind(new, source) == .key) }
        #expect(service.fetchCount == 2)
        try service.publish(old, new)
        service.clock.advance(by: .milliseconds(999))
        #expect(try await kind(new, source) == .key)
        service.clock.advance(by: .milliseconds(1))
        #expect(try await kind(new, source) == nil)
        #expect(service.fetchCount == 3)
    }

    @Test func `a flood of made-up keys fetches 14 times a minute, and delays a new key by five seconds`()
        async throws
    {
        try service.publish(old)
        let source = service.source()
        let stranger = try TokenSigner(generating: .edDSA, id: TokenKeyID("made-up"))
        try await source.reload()
        func tenth() async throws {
            #expect(try await kind(stranger, source) == .key)
            service.clock.advance(by: .milliseconds(100))
        }
        for _ in 0..<600 { try await tenth() }
        #expect(service.fetchCount == 1 + 14)
        try service.publish(old, new)
        for _ in 0..<50 { try await tenth() }
        #expect(try await kind(new, source) == nil)
        #expect(service.fetchCount == 1 + 15)
        // After a rest the next new key comes into force immediately.
        let next = try TokenSigner(generating: .edDSA, id: TokenKeyID("next"))
        try service.publish(new, next)
        service.clock.advance(by: .seconds(10))
        #expect(try await kind(next, source) == nil)
    }

    @Test(arguments: ["", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"weak","k":"AAAA"}]}"#, "<html>"])
    func `a broken or empty set does not replace a good one`(_ document: String) async throws {
        try service.publish(old)
        let source = service.source()
        try await source.reload()
        service.document.withLock { $0 = Data(document.utf8) }
        await #expect(throws: KeySetError.self) { try await source.reload() }
        guard case .kept(let error) = service.lastEvent else { throw Service.Down() }
        #expect(error.code == "keySetUnusable")
        #expect(try await kind(old, source) == nil)
    }

    @Test func `a service that is down keeps the set in force`() async throws {
        try service.publish(old)
        let source = service.source()
        try await source.reload()
        service.document.withLock { $0 = nil }
        await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(try await kind(old, source) == nil)
    }

    @Test func `refused keys are reported with an accepted set, and are new once`() async throws {
        let weak = #"{"kty":"oct","kid":"weak","k":"AAAA"}"#
        let good = #"{"kty":"oct","alg":"HS256","kid":"good","k":"\#(SampleTokens.k)"}"#
        service.document.withLock { $0 = SampleTokens.document([weak, good]) }
        let source = service.source()
        for isFirst in [true, false] {
            try await source.reload()
            guard case .loaded(1, let refused, let news) = service.lastEvent else { throw Service.Down() }
            #expect(refused.map { $0.id?.text } == ["weak"])
            #expect(news == (isFirst ? refused : []))
        }
    }

    @Test func `a set's state lists its keys, its refused keys, and why the last fetch failed`() async throws {
        let source = service.source()
        #expect(source.standing == KeySetSource.Standing())
        let weak = #"{"kty":"oct","kid":"weak","k":"AAAA"}"#
        let good = #"{"kty":"oct","alg":"HS256","kid":"good","k":"\#(SampleTokens.k)"}"#
        service.document.withLock { $0 = SampleTokens.document([weak, good]) }
        try await source.reload()
        #expect(source.standing.keys == 1 && source.standing.failure == nil)
        #expect(source.standing.refused.map(\.place) == ["keys[0]"])
        service.document.withLock { $0 = nil }
        await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(source.standing.keys == 1 && source.standing.failure?.code == "keySetUnreachable")
        #expect(source.standing.problems.count == 2)
        try service.publish(old)
        try await source.reload()
        #expect(source.standing == KeySetSource.Standing(keys: 1))
    }

    @Test func `a tenant's algorithms apply to fetched keys`() async throws {
        try service.publish(old)
        let document = service.document.withLock { $0 } ?? Data()
        let source = KeySetSource.fetched(algorithms: [.es256], timekeeper: service.clock, report: { _ in }) {
            document
        }
        let error = await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(error?.reason.contains("it is for EdDSA") == true)
    }

    @Test(arguments: [
        (TransportError(.hostNotFound, "The host of a:443 is unknown."), "a:443 is unknown", "host's name"),
        (.init(.serverCertificateUntrusted, "The TLS certificate of a:443 is odd."), "TLS", "SSL_CERT_FILE"),
        (.init(.timedOut, "a:443 did not answer in time."), "in time", "responds to this machine"),
    ])
    func `a failed fetch reports the transport's cause`(
        _ failure: TransportError, _ reason: String, _ remedy: String
    ) async throws {
        let source = KeySetSource.fetched(timekeeper: service.clock, report: { _ in }) { throw failure }
        let error = await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(error?.reason.contains(reason) == true && error?.remedy.contains(remedy) == true, "\(error as Any)")
    }

    @Test(arguments: [301, 404, 503]) func `a fetch with another status reports that status`(_ status: Int)
        async
        throws
    {
        let source = KeySetSource.fetched(timekeeper: service.clock, report: { _ in }) {
            throw KeySetError.status(status)
        }
        let error = await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(error?.reason.contains("\(status)") == true)
        #expect(error?.reason.contains("not followed") == (status == 301))
    }

    @Test func `callers during a fetch wait for the same one`() async throws {
        let time = VirtualTime(date: SampleTokens.now)
        let (fetches, service, old) = (Locked(0), service, old)
        try service.publish(old)
        let token = try old.token(SampleTokens.claims).revealedText
        try await time.run {
            let source = KeySetSource.fetched(timekeeper: time, report: { _ in }) {
                fetches.withLock { $0 += 1 }
                try await time.sleep(for: .seconds(1))
                return service.document.withLock { $0 } ?? Data()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { try await source.reload() } }
                group.addTask { _ = try await source.verified(token, by: TokenVerifier(), at: time.date) }
                try await group.waitForAll()
            }
        }
        #expect(fetches.withLock { $0 } == 1)
        #expect(time.uptime == .seconds(1))
    }

    @Test func `a waiter that gives up stops no fetch`() async throws {
        try service.publish(old)
        let gate = Gate()
        let source = service.source(gate: gate)
        let first = Task { try await source.reload() }
        await gate.untilSomeoneArrives()
        let other = Task { try await source.reload() }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        gate.open()
        try await first.value
        #expect(service.fetchCount == 1)
    }

    @Test func `a token with a known key never waits for a fetch`() async throws {
        try service.publish(old)
        let hanging = Gate()
        let isFirst = Locked(true)
        let document = try KeySet([old.verificationKey]).publicDocument
        let source = KeySetSource.fetched(timekeeper: service.clock, report: { _ in }) {
            let first = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if !first { await hanging.wait() }
            return document
        }
        try await source.reload()
        let reload = Task { try await source.reload() }
        await hanging.untilSomeoneArrives()
        #expect(try await kind(old, source) == nil)
        hanging.open()
        try await reload.value
    }

    @Test func `a fetch that hangs ends after ten seconds, and the next one starts anew`() async throws {
        let gate = Gate()
        let source = service.source(gate: gate)
        let reload = Task { try await source.reload() }
        await service.clock.untilSomeoneSleeps(for: KeySetSource.fetchTimeout)
        service.clock.advance(by: KeySetSource.fetchTimeout)
        let error = await #expect(throws: KeySetError.self) { try await reload.value }
        #expect(error?.reason.contains("10 s") == true)
        gate.open()
        try service.publish(old)
        try await source.reload()
        #expect(try await kind(old, source) == nil)
    }

    @Test func `the set is kept fresh until the task is cancelled`() async throws {
        try service.publish(old)
        let source = service.source()
        let task = Task { await source.keepFresh(every: .seconds(300)) }
        await service.clock.untilSomeoneSleeps(for: .seconds(300))
        try service.publish(new)
        service.clock.advance(by: .seconds(300))
        await service.clock.untilSomeoneSleeps(for: .seconds(300))
        #expect(source.keys.keys.map { $0.id?.text } == ["new"])
        task.cancel()
        await task.value
        #expect(service.fetchCount == 2)
    }

    @Test func `a transport's error shows none of its text`() async throws {
        struct Planted: Error, CustomStringConvertible { let description = "https://host/?token=PLANTED" }
        let source = KeySetSource.fetched(timekeeper: service.clock, report: { _ in }) { throw Planted() }
        let error = await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(error?.description.contains("PLANTED") == false)
    }

    @Test func `a file is read on request, not for a token with an unknown key`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("keys.json")
        let events = Locked<[KeySetSource.Event]>([])
        let source = KeySetSource.file(file, timekeeper: service.clock) { event in events.withLock { $0.append(event) }
        }
        await #expect(throws: KeySetError.self) { try await source.reload() }
        try KeySet([old.verificationKey]).publicDocument.write(to: file)
        #expect(try await kind(old, source) == .key)
        try await source.reload()
        #expect(try await kind(old, source) == nil)
        try Data(repeating: 0x20, count: KeySet.limit + 1).write(to: file)
        let error = await #expect(throws: KeySetError.self) { try await source.reload() }
        #expect(error?.code == "keySetTooLong")
        #expect(try await kind(old, source) == nil)
        #expect(events.withLock { $0.count } == 3)
    }

    @Test(arguments: [3_600, -3_600.0])
    func `a date change does not refetch an unknown key`(seconds: Double) async throws {
        let clock = ManualTimekeeper()
        let fetches = Locked(0)
        let source = KeySetSource.fetched(timekeeper: clock, report: { _ in }) {
            fetches.withLock { $0 += 1 }
            throw CancellationError()
        }
        let token = try SampleTokens.token(payload: SampleTokens.payload)
        func ask() async { _ = try? await source.verified(token, by: TokenVerifier(), at: SampleTokens.now) }
        for _ in 0..<3 { await ask() }
        #expect(fetches.withLock { $0 } == 1)
        clock.setDate(clock.date.addingTimeInterval(seconds))
        for _ in 0..<3 { await ask() }
        #expect(fetches.withLock { $0 } == 1)
        clock.advance(by: .seconds(60))
        for _ in 0..<3 { await ask() }
        #expect(fetches.withLock { $0 } == 2)
    }
}
