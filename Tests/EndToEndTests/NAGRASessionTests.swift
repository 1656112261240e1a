import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// NAGRA's secure sessions between the client and the service, on a clock that the test advances.
@Suite(.timeLimit(.minutes(5))) struct NAGRASessionTests {
    @Test func `a session opens once before the first licenses, is kept alive, and ends with the loader`()
        async throws
    {
        try await SessionStage.with { stage in
            async let first = stage.key()
            async let second = stage.key()
            _ = try await (first.get(), second.get())
            #expect(await stage.loader.sessionState(of: .only) == .on)
            #expect(stage.steps == ["sessionSetup", "license", "license"])

            for _ in 1...3 { await stage.passHeartbeat() }
            await stage.clock.untilSomeoneSleeps(for: SessionStage.heartbeat)
            #expect(stage.count(.sessionHeartbeat) == 3)
            #expect(stage.service.warnings.isEmpty)
            let tokens = stage.tokens(at: .sessionHeartbeat)
            #expect(Set(tokens).count == 3)

            await stage.end()
            #expect(stage.steps.last == "sessionTeardown")
            #expect(stage.count(.sessionTeardown) == 1)
            // The latest token, which was unused before.
            #expect(!tokens.contains(try #require(stage.tokens(at: .sessionTeardown).first)))
            #expect(stage.nagra.openSessions == 0)
            #expect(stage.leaks.isEmpty)
        }
    }

    @Test func `if the license allows it, a renewal with only the session's token keeps the session alive`()
        async throws
    {
        try await SessionStage.with({ $0.enforcesSessions = true }) { stage in
            let key = try await stage.key().get()
            #expect(key.terms.validity == .lease(SessionStage.heartbeat * 2))

            for _ in 1...3 {
                await stage.passHeartbeat()
                for await _ in stage.renewals.stream { break }
                _ = try await stage.key(.renewal).get()
            }
            #expect(stage.count(.sessionHeartbeat) == 0)
            let licenses = stage.service.requests(at: .license)
            #expect(licenses.map { $0.queryValue("renew") } == [nil, "true", "true", "true"])
            #expect(stage.tokens(at: .license).map { $0.contains(",") } == [true, false, false, false])
            #expect(Set(stage.tokens(at: .license)).count == 4)
            #expect(stage.service.warnings.isEmpty)

            await stage.end()
            #expect(stage.nagra.openSessions == 0)
            #expect(stage.leaks.isEmpty)
        }
    }

    @Test func `one session too many is error 1007, and another place frees it`() async throws {
        try await SessionStage.with({ $0.sessionLimit = 1 }) { stage in
            let other = stage.live.loader(.nagra, timekeeper: stage.clock)
            let request = try stage.live.request(for: .nagra)
            other.answer(request)
            _ = try await request.outcome.get()

            let events = stage.loader.events()
            let refused = try await stage.key()
            let error = try #require(refused.error as? ContentKeyError)
            // The session ends with the last key that needed it.
            for await event in events { if case .session(.error) = event.kind { break } }
            #expect(error.code == "concurrencyLimit" && error.stage == .setup)
            #expect(error.service?.status == 400 && error.service?.code == "1007")
            #expect(error.service?.requestID?.isEmpty == false && !error.remedy.isEmpty)
            #expect(stage.count(.license) == 1)

            await SessionStage.end(other)
            #expect(stage.nagra.openSessions == 0)
            _ = try await stage.key().get()
            #expect(await stage.loader.sessionState(of: .only) == .on)
        }
    }

    @Test func `another source ends the session and opens a new one`() async throws {
        try await SessionStage.with { stage in
            _ = try await stage.key().get()
            stage.loader.release(.only)
            _ = try await stage.key().get()
            #expect(stage.steps == ["sessionSetup", "license", "sessionTeardown", "sessionSetup", "license"])
            #expect(stage.nagra.openSessions == 1)
        }
    }

    @Test func `a session that the service forgot while the app slept is reopened`() async throws {
        try await SessionStage.with { stage in
            _ = try await stage.key().get()
            stage.loader.suspend(.only)
            // The service's limit is three missed heartbeats.
            stage.clock.advance(by: SessionStage.heartbeat * 3)
            stage.loader.resume(.only)

            for await _ in stage.renewals.stream { break }
            let error = stage.sessionErrors.first
            let code = try #require(error?.service?.code)
            let documented = VendorProfile.nagra.errors(at: .session)?.codes[code]
            #expect(error?.kind == documented?.kind && error?.stage == .heartbeat)
            #expect(error?.service?.status == 400 && code == "1006")
            #expect(
                stage.steps.suffix(2) == ["sessionTeardown", "sessionSetup"] && stage.count(.sessionHeartbeat) == 1)
            #expect(stage.nagra.openSessions == 1)
            #expect(await stage.loader.sessionState(of: .only) == .on)
            _ = try await stage.key(.renewal).get()
            #expect(stage.leaks.isEmpty)
        }
    }

    @Test func `a briefly failing heartbeat is sent again, and the session lives`() async throws {
        try await SessionStage.with { stage in
            _ = try await stage.key().get()
            stage.service.faults.set(.status(503), at: .sessionHeartbeat, for: .first(1))
            await stage.passHeartbeat()
            await stage.clock.untilSomeoneSleeps(for: .milliseconds(500))
            stage.clock.advance(by: .milliseconds(500))
            await stage.until(.on)
            #expect(stage.count(.sessionHeartbeat) == 2)
            #expect(await stage.loader.sessionState(of: .only) == .on)
        }
    }
}
