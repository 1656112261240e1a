import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A secure session from its setup to its teardown.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
    let harness = SessionHarness()

    @Test func `a session is opened before the first license, which carries both tokens`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        #expect(try await harness.answer().ckc == SampleBytes.ckc())
        #expect(await events.states(until: .on) == [.awaitingContentToken, .setupRequested, .on])
        #expect(harness.service.log == ["setup TOKEN-1", "license TOKEN-2,SESSION-1"])
        let setup = try #require(harness.transport.requests.first { $0.url?.path.hasSuffix("setup") == true })
        #expect(setup.url?.absoluteString == "https://demo-ssm.anycast.nagra.com/DEMO/ssm/v1/sessions/setup")
        #expect(setup.httpMethod == "POST" && setup.httpBody == Data("{}".utf8))
        #expect(setup.value(forHTTPHeaderField: "Content-Type") == "application/json; charset=utf-8")
        #expect(setup.value(forHTTPHeaderField: "Accept") == "application/json")
    }

    @Test func `concurrent keys share one session`() async throws {
        let requests = (0..<20).map { _ in harness.request() }
        for request in requests { try harness.loader.answer(request) }
        for request in requests { #expect(await request.firstAnswer().ckc != nil) }
        #expect(harness.service.log.filter { $0.hasPrefix("setup") }.count == 1)
        #expect(harness.service.log.filter { $0.hasPrefix("license") && $0.hasSuffix(",SESSION-1") }.count == 20)
    }

    @Test func `no address means no session`() async throws {
        let harness = SessionHarness(["sessionURL": ""])
        #expect(try harness.loader.sessions == nil)
        #expect(try await harness.answer().ckc != nil)
        #expect(harness.service.log == ["license TOKEN-1"])
        #expect(await harness.hasNoTimer())
    }

    @Test func `a heartbeat is sent every period and replaces the token`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        for _ in 0..<3 {
            await harness.passPeriod()
            #expect(await events.states(until: .on) == [.renewalRequested, .on])
        }
        try await harness.answer()
        #expect(
            harness.service.log.dropFirst(2) == [
                "heartbeat SESSION-1", "heartbeat SESSION-2", "heartbeat SESSION-3", "license TOKEN-3,SESSION-4",
            ])
    }

    @Test func `a license with a session token is renewed to keep the session alive`() async throws {
        harness.service.enforce()
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        for _ in 0..<2 {
            await harness.passPeriod()
            #expect(await events.states(until: .on) == [.renewalRequested, .on])
        }
        #expect(harness.service.log.dropFirst(2) == ["renew SESSION-1", "renew SESSION-1"])
        let renewal = try #require(harness.transport.requests.last)
        #expect(renewal.url?.absoluteString.hasSuffix("/fpls/contentlicenseservice/v1/licenses?renew=true") == true)
        #expect(renewal.httpBody == SampleBytes.spc && harness.failures.isEmpty)
    }

    @Test func `renewing a lease is not a heartbeat`() async throws {
        try await harness.answer()
        await harness.clock.untilSomeoneSleeps(for: SessionHarness.period)
        harness.clock.advance(by: .seconds(60))
        #expect(try await harness.answer(.renewal).ckc != nil)
        await harness.clock.untilSomeoneSleeps(for: .seconds(40))
        harness.clock.advance(by: .seconds(40))
        await harness.untilLogged(4)
        #expect(harness.service.log.suffix(2) == ["renew SESSION-1", "heartbeat SESSION-1"])
    }

    @Test func `a license's older token does not replace a heartbeat's`() async throws {
        harness.service.enforce()
        harness.service.setHeartbeat(5)
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        let gate = harness.service.hold("license")
        let request = harness.request()
        try harness.loader.answer(request)
        await harness.untilLogged(2)
        _ = await events.states(until: .on)
        harness.clock.advance(by: .seconds(5))
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        gate.open()
        #expect(await request.firstAnswer().ckc != nil)
        await harness.clock.untilSomeoneSleeps(for: .seconds(5))
        harness.clock.advance(by: .seconds(5))
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        #expect(harness.service.log.dropFirst(2) == ["heartbeat SESSION-1", "renew SESSION-2"])
    }

    @Test func `cancelling the loader ends the session and leaves no timer`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        try harness.loader.cancel()
        #expect(await events.states(until: .off).suffix(2) == [.teardownRequested, .off])
        #expect(harness.service.log.last == "teardown SESSION-1" && harness.service.openSessions.isEmpty)
        #expect(await harness.hasNoTimer())
        #expect(try await harness.answer().error?.code == "cancelled")
        #expect(harness.service.log.count == 3)
    }

    @Test func `a released loader ends its session`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        harness.dropLoader()
        #expect(await events.states(until: .off).last == .off)
        #expect(harness.service.log.last == "teardown SESSION-1")
        #expect(await harness.hasNoTimer())
    }

    @Test func `another source first ends the session, then opens one with its first key`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        try harness.loader.release(.only)
        try await harness.answer()
        #expect(
            harness.service.log == [
                "setup TOKEN-1", "license TOKEN-2,SESSION-1", "teardown SESSION-1", "setup TOKEN-3",
                "license TOKEN-4,SESSION-2",
            ])
        _ = await events.states(until: .off)
        #expect(await events.states(until: .on) == [.awaitingContentToken, .setupRequested, .on])
        #expect(harness.service.unknown.isEmpty)
    }

    @Test func `a license under way ends before the source's session`() async throws {
        let gate = harness.service.hold("license")
        let first = harness.request()
        try harness.loader.answer(first)
        await harness.untilLogged(2)
        try harness.loader.release(.only)
        let second = harness.request()
        try harness.loader.answer(second)
        #expect(harness.service.log.count == 2)
        gate.open()
        #expect(await first.firstAnswer().error?.code == "cancelled")
        #expect(await second.firstAnswer().ckc != nil)
        #expect(
            harness.service.log.dropFirst(2) == ["teardown SESSION-1", "setup TOKEN-3", "license TOKEN-4,SESSION-2"])
    }

    @Test func `a setup that ends after its source is torn down, and its keys get no license`() async throws {
        let gate = harness.service.hold("setup")
        let first = harness.request()
        try harness.loader.answer(first)
        await harness.untilLogged(1)
        try harness.loader.release(.only)
        #expect(await first.firstAnswer().error?.code == "cancelled")
        let second = harness.request()
        try harness.loader.answer(second)
        gate.open()
        #expect(await second.firstAnswer().ckc != nil)
        #expect(
            harness.service.log == [
                "setup TOKEN-1", "teardown SESSION-1", "setup TOKEN-2", "license TOKEN-3,SESSION-2",
            ])
    }

    @Test func `after the loader's end a late setup reply causes only the teardown`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        let gate = harness.service.hold("setup")
        let request = harness.request()
        try harness.loader.answer(request)
        await harness.untilLogged(1)
        try harness.loader.cancel()
        #expect(request.answers.map(\.error?.code) == ["cancelled"])
        gate.open()
        _ = await events.states(until: .off)
        #expect(harness.service.log == ["setup TOKEN-1", "teardown SESSION-1"])
        #expect(await harness.hasNoTimer())
    }

    @Test func `an ended loader opens no session`() async throws {
        let loader = try harness.loader
        loader.cancel()
        await #expect {
            try await loader.licenseRequest(for: SPCMessage(SampleBytes.spc), key: SessionHarness.key)
        } throws: { ($0 as? ContentKeyError)?.code == "sessionEnded" }
        #expect(harness.service.log.isEmpty)
    }

    @Test func `a heartbeat under way ends first to give the teardown its token`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        let gate = harness.service.hold("heartbeat")
        await harness.passPeriod()
        await harness.untilLogged(3)
        try harness.loader.cancel()
        gate.open()
        _ = await events.states(until: .off)
        #expect(harness.service.log.suffix(2) == ["heartbeat SESSION-1", "teardown SESSION-2"])
        #expect(await harness.hasNoTimer())
    }

    @Test func `a player with its own I/O gets the session's tokens, and its reply counts`() async throws {
        let loader = try harness.loader
        let request = try await loader.licenseRequest(for: SPCMessage(SampleBytes.spc), key: SessionHarness.key)
        #expect(request.value(forHTTPHeaderField: "nv-authorizations") == "TOKEN-2,SESSION-1")
        let body = #"{"CkcMessage":"\#(SampleBytes.ckc().base64EncodedString())","sessionToken":"SESSION-9"}"#
        let exchange = HTTPExchange(request: request, reply: HTTPReply(status: 200, body: Data(body.utf8)))
        _ = try loader.license(from: exchange, key: SessionHarness.key)
        var tokens: String?
        while tokens != "SESSION-9", !Task.isCancelled {
            let renewal = try await loader.licenseRequest(
                for: SPCMessage(SampleBytes.spc), key: SessionHarness.key, purpose: .renewal)
            tokens = renewal.value(forHTTPHeaderField: "nv-authorizations")
            await Task.yield()
        }
        #expect(tokens == "SESSION-9" && harness.service.log == ["setup TOKEN-1"])
    }
}
