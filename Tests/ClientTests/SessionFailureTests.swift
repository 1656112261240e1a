import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// Sessions that are refused, cannot be kept alive, or sleep.
@Suite(.timeLimit(.minutes(5))) struct SessionFailureTests {
    static let tooMany = FakeTransport.Step.reply(
        HTTPReply(status: 400, body: Data(#"{"errorCode":1007,"message":"Too many sessions"}"#.utf8)))
    let harness = SessionHarness()

    @Test func `too many sessions is one typed error, and the next key tries again`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        harness.service.fault("setup", Self.tooMany)
        let error = try await harness.answer().error
        #expect(error?.code == "concurrencyLimit" && error?.stage == .setup && error?.isRetryable == false)
        #expect(error?.service == ServiceReply(status: 400, code: "1007", message: "Too many sessions"))
        #expect(error?.remedy == "Stop another stream of this account and try again.")
        #expect(await events.states(until: .error) == [.awaitingContentToken, .setupRequested, .error])
        #expect(try await harness.answer().ckc != nil)
        #expect(harness.service.log == ["setup TOKEN-1", "setup TOKEN-2", "license TOKEN-3,SESSION-1"])
    }

    @Test func `a failed setup fails all keys that wait for it, without a teardown`() async throws {
        let gate = harness.service.hold("setup")
        harness.service.fault("setup", Self.tooMany)
        let requests = (0..<5).map { _ in harness.request() }
        for request in requests { try harness.loader.answer(request) }
        await harness.transport.untilRequested(2)
        gate.open()
        // A late one, on a busy machine, opens the next session.
        var codes: [String?] = []
        for request in requests { codes.append(await request.firstAnswer().error?.code) }
        #expect(codes.contains("concurrencyLimit") && codes.allSatisfy { [nil, "concurrencyLimit"].contains($0) })
        var events = try harness.loader.events().makeAsyncIterator()
        try harness.loader.cancel()
        _ = await events.states(until: .off)
        let setups = harness.service.log.filter { $0.hasPrefix("setup") }.count
        #expect(harness.service.openSessions.isEmpty)
        #expect(harness.service.log.filter { $0.hasPrefix("teardown") }.count == setups - 1)
    }

    @Test(arguments: [#"{"sessionToken":"SESSION-1","heartbeat":0}"#, #"{"heartbeat":30}"#, "<html>"])
    func `a malformed setup is a distinct error`(body: String) async throws {
        harness.service.fault("setup", .ok(body))
        let error = try await harness.answer().error
        #expect(error?.code == "sessionMalformed" && error?.stage == .setup)
        #expect(harness.service.log == ["setup TOKEN-1"])
    }

    @Test func `a temporary setup failure is retried with a new content token`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        harness.service.fault("setup", .status(503))
        let request = harness.request()
        try harness.loader.answer(request)
        await harness.clock.untilSomeoneSleeps(for: .milliseconds(500))
        harness.clock.advance(by: .milliseconds(500))
        #expect(await request.firstAnswer().ckc != nil)
        #expect(harness.service.log == ["setup TOKEN-1", "setup TOKEN-2", "license TOKEN-3,SESSION-1"])
        let states: [SessionState] = [
            .awaitingContentToken, .setupRequested, .awaitingContentToken, .setupRequested, .on,
        ]
        #expect(await events.states(until: .on) == states)
    }

    @Test func `a refused heartbeat stops playback once`() async throws {
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        harness.service.fault("heartbeat", .status(403))
        await harness.passPeriod()
        _ = await events.states(until: .error)
        await harness.untilFailed()
        #expect(harness.failures.map(\.code) == ["forbidden"] && harness.failures.first?.stage == .heartbeat)
        #expect(await harness.hasNoTimer())
        // The source continues as long as a request is pending.
        let isOver = Gate()
        let pending = try harness.loader.answer(
            harness.request(spc: {
                await isOver.wait()
                return nil
            }))
        defer {
            pending.cancel()
            isOver.open()
        }
        #expect(try await harness.answer().error?.code == "forbidden")
        #expect(try await harness.answer(.renewal).error?.stage == .heartbeat)
        #expect(harness.failures.count == 1 && harness.service.log.count == 3)
    }

    @Test func `a source that is reloaded after a failed heartbeat gets a new session`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        harness.service.fault("heartbeat", .status(403))
        await harness.passPeriod()
        _ = await events.states(until: .error)
        try harness.loader.release(.only)
        #expect(try await harness.answer().ckc != nil)
        #expect(await events.states(until: .off) == [.teardownRequested, .off])
        #expect(harness.service.log.suffix(3) == ["teardown SESSION-1", "setup TOKEN-3", "license TOKEN-4,SESSION-2"])
    }

    @Test func `a heartbeat is tried three times before the session is given up`() async throws {
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        harness.service.fault("heartbeat", .status(500), .status(500), .status(500))
        await harness.passPeriod()
        for wait in [Duration.milliseconds(500), .seconds(1)] {
            await harness.clock.untilSomeoneSleeps(for: wait)
            harness.clock.advance(by: wait)
        }
        _ = await events.states(until: .error)
        await harness.untilFailed()
        #expect(harness.failures.map(\.attempts) == [3] && harness.failures.first?.code == "serverTransient")
        #expect(harness.service.log.suffix(3) == ["heartbeat SESSION-1", "heartbeat SESSION-1", "heartbeat SESSION-1"])
    }

    @Test func `a refused renewal stops playback`() async throws {
        harness.service.enforce()
        harness.service.fault("renew", Self.tooMany)
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        await harness.passPeriod()
        #expect(await events.states(until: .error).suffix(2) == [.renewalRequested, .error])
        await harness.untilFailed()
        #expect(harness.failures.map(\.code) == ["concurrencyLimit"] && harness.failures.first?.stage == .license)
    }

    @Test func `a player that does not renew stops playback`() async throws {
        harness.service.enforce()
        harness.attachPlayer(comes: false)
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        await harness.passPeriod()
        await harness.clock.untilSomeoneSleeps(for: .seconds(30))
        await harness.untilAskedToRenew()
        #expect(harness.renewals == 1)
        harness.clock.advance(by: .seconds(30))
        _ = await events.states(until: .error)
        await harness.untilFailed()
        #expect(harness.failures.map(\.code) == ["sessionNotRenewed"])
        #expect(await harness.hasNoTimer())
    }

    @Test func `a session kept alive by renewals reports that it has no player`() async throws {
        harness.service.enforce()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        await harness.passPeriod()
        var failure: ContentKeyError?
        while failure == nil, let event = await events.next() {
            if case .sessionFailed(let error) = event.kind { failure = error }
        }
        #expect(failure?.code == "sessionNotRenewed")
        #expect(failure?.remedy == "Implement renew() in the player's key request.")
    }

    @Test func `a renewal without a session opens one for keys that ended with theirs`() async throws {
        #expect(try await harness.answer(.renewal).ckc != nil)
        #expect(harness.service.log.first == "setup TOKEN-1")
        #expect(harness.service.log.last?.hasPrefix("renew ") == true)
    }

    @Test func `a failed teardown still ends the session`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        harness.service.fault("teardown", .status(404))
        try harness.loader.release(.only)
        #expect(await events.states(until: .off).last == .off)
        #expect(try await harness.answer().ckc != nil)
        #expect(harness.service.log.suffix(2) == ["setup TOKEN-3", "license TOKEN-4,SESSION-2"])
    }

    @Test func `no event or error shows a token`() async throws {
        let events = try harness.loader.events()
        try await harness.answer()
        harness.service.fault(
            "heartbeat",
            .reply(HTTPReply(status: 400, body: Data(#"{"errorCode":1,"message":"bad SESSION-1 and TOKEN-1"}"#.utf8))))
        harness.service.fault("teardown", .status(404))
        await harness.passPeriod()
        var shown = ""
        for await event in events {
            shown += "\(event)\n"
            if case .session(.error) = event.kind { try harness.loader.cancel() }
            if case .session(.off) = event.kind { break }
        }
        #expect(shown.contains("sessions/heartbeat") && !shown.contains("SESSION-1"))
    }
}

/// A session in an app that goes to the background.
@Suite(.timeLimit(.minutes(5))) struct SessionSuspensionTests {
    let harness = SessionHarness()
    /// The states of a session that is found to have ended, and of the one in its place.
    static let reopened: [SessionState] = [
        .renewalRequested, .on, .teardownRequested, .off, .awaitingContentToken, .setupRequested, .on,
    ]

    @Test func `work due in the background is done once`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        try harness.loader.suspend(.only)
        #expect(await harness.hasNoTimer())
        harness.clock.advance(by: SessionHarness.period * 5)
        #expect(harness.service.log.count == 2)
        try harness.loader.resume(.only)
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        await harness.clock.untilSomeoneSleeps(for: SessionHarness.period)
        #expect(harness.service.log.dropFirst(2) == ["heartbeat SESSION-1"])
    }

    @Test func `a session that the service ended meanwhile is reopened, and its keys are renewed`()
        async throws
    {
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        try harness.loader.suspend(.only)
        harness.clock.advance(by: SessionHarness.period * 3)
        harness.service.fault("heartbeat", .status(401))
        try harness.loader.resume(.only)
        let states = await events.states(until: .off) + events.states(until: .on)
        #expect(states == Self.reopened)
        await harness.untilAskedToRenew()
        await harness.passPeriod()
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        #expect(harness.service.log.contains { $0.hasPrefix("renew") && $0.hasSuffix("SESSION-2") })
        #expect(harness.service.sessionCount == 2 && harness.failures.isEmpty)
    }

    @Test func `a renewal that finds the session ended is made in another`() async throws {
        harness.service.enforce()
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        try harness.loader.suspend(.only)
        harness.clock.advance(by: SessionHarness.period * 3)
        harness.service.fault("renew", .status(403))
        try harness.loader.resume(.only)
        let states = await events.states(until: .off) + events.states(until: .on)
        #expect(states == Self.reopened)
        await harness.passPeriod()
        #expect(await events.states(until: .renewalRequested) == [.renewalRequested])
        #expect(harness.service.log.filter { $0.hasPrefix("renew") }.prefix(2).last?.hasSuffix("SESSION-2") == true)
        #expect(harness.failures.isEmpty)
    }

    @Test func `a key requested while the session is reopened waits for it`() async throws {
        harness.attachPlayer()
        try await harness.answer()
        try harness.loader.suspend(.only)
        harness.clock.advance(by: SessionHarness.period * 3)
        harness.service.fault("heartbeat", .status(401))
        let gate = harness.service.hold("setup")
        try harness.loader.resume(.only)
        while harness.service.log.last?.hasPrefix("setup") != true, !Task.isCancelled { await Task.yield() }
        let requests = [harness.request(.renewal), harness.request()]
        for request in requests { try harness.loader.answer(request) }
        gate.open()
        for request in requests { #expect(await request.firstAnswer().ckc != nil) }
        #expect(harness.service.sessionCount == 2 && harness.failures.isEmpty)
    }

    @Test func `a new key that finds the session ended opens another too`() async throws {
        try await harness.answer()
        try harness.loader.suspend(.only)
        harness.clock.advance(by: SessionHarness.period * 3)
        harness.service.fault("license", .status(403), .status(403))
        #expect(try await harness.answer().ckc != nil)
        #expect(harness.service.log.last?.hasSuffix("SESSION-2") == true)
    }

    @Test func `keys whose session cannot be reopened end with the reason`() async throws {
        harness.attachPlayer()
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        _ = await events.states(until: .on)
        try harness.loader.suspend(.only)
        harness.clock.advance(by: SessionHarness.period * 3)
        harness.service.fault("heartbeat", .status(401))
        harness.service.fault("setup", .status(403), .status(403))
        try harness.loader.resume(.only)
        _ = await events.states(until: .error)
        await harness.untilFailed()
        #expect(harness.failures.map(\.code) == ["forbidden"] && harness.failures.first?.stage == .setup)
        #expect(await harness.hasNoTimer())
    }

    @Test func `work not yet due is done on time`() async throws {
        try await harness.answer()
        await harness.clock.untilSomeoneSleeps(for: SessionHarness.period)
        try harness.loader.suspend(.only)
        harness.clock.advance(by: .seconds(60))
        try harness.loader.resume(.only)
        try harness.loader.resume(.only)
        await harness.clock.untilSomeoneSleeps(for: .seconds(40))
        harness.clock.advance(by: .seconds(40))
        await harness.untilLogged(3)
        #expect(harness.service.log.last == "heartbeat SESSION-1")
    }

    @Test func `a player that slept gets its full time for the renewal`() async throws {
        harness.service.enforce()
        harness.attachPlayer(comes: false)
        try await harness.answer()
        await harness.passPeriod()
        await harness.clock.untilSomeoneSleeps(for: .seconds(30))
        try harness.loader.suspend(.only)
        harness.clock.advance(by: .seconds(3_600))
        try harness.loader.resume(.only)
        await harness.clock.untilSomeoneSleeps(for: .seconds(30))
        #expect(harness.failures.isEmpty)
        #expect(try await harness.answer(.renewal).ckc != nil)
        #expect(try await harness.session.state == .on)
    }

    @Test func `a source that ends in the background ends its session`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        try await harness.answer()
        try harness.loader.suspend(.only)
        try harness.loader.release(.only)
        #expect(await events.states(until: .off).last == .off)
        try harness.loader.resume(.only)
        #expect(await harness.hasNoTimer())
        #expect(harness.service.log.last == "teardown SESSION-1")
    }
}
