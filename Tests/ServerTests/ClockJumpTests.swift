import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing

/// The date of the machine jumps by an hour, as it does when its clock is set: playbacks, limits and waits use elapsed time.
@Suite(.timeLimit(.minutes(1))) struct ClockJumpTests {
    private static let policy = """
        "validity":{"type":"lease","lease":"5m"},
        "concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s"}
        """

    private static func jump(_ stage: APIStage, _ seconds: Double) {
        stage.time.setDate(stage.time.date.addingTimeInterval(seconds))
    }

    private static func ask(_ stage: APIStage, session: UInt64) async throws -> APIAnswer {
        let spc = try stage.exchange(session: session).spc.revealed
        // A token of a service whose clock is right.
        let token = try stage.token(["jti": .text("t-\(session)")])
        return await stage.ask(
            "fairplay", spc, token: token)
    }

    @Test(arguments: [3_600, -3_600.0])
    func `a running playback renews its lease, and the stream limit still counts`(seconds: Double) async throws {
        let stage = try await APIStage(Self.policy)
        #expect(try await Self.ask(stage, session: 1).response.status == 200)
        #expect(try await Self.ask(stage, session: 2).code == "sessionLimit")
        Self.jump(stage, seconds)
        var renewals = 0
        for _ in 0..<5 {
            let exchange = try stage.exchange(session: 1)
            let answer = await stage.ask(
                "fairplay", exchange.spc.revealed, token: try stage.token(["jti": .text("t-1")]))
            #expect(answer.response.status == 200, "\(answer.code ?? "")")
            // The lease is a time that passes, in the device too.
            let key = try exchange.open(answer.body, at: stage.time)
            _ = key.contentKey
            renewals += 1
            #expect(try await Self.ask(stage, session: 2).code == "sessionLimit")
            stage.time.advance(by: .seconds(200))
        }
        #expect(renewals == 5)
        // Its slot is free when lease and grace are over since the last renewal. Slots end at dates, which nodes share: a clock that went back
        // keeps one for as long as it went back, and never frees one that is in use.
        stage.time.advance(by: .seconds(200) + .seconds(max(0, -seconds)))
        #expect(try await Self.ask(stage, session: 2).response.status == 200)
    }

    @Test(arguments: [3_600, -3_600.0])
    func `a token goes by the date, and is valid again once the date is right`(seconds: Double) async throws {
        let stage = try await APIStage(Self.policy)
        let (spc, token) = (try stage.exchange().spc.revealed, try stage.token())
        #expect(await stage.ask("fairplay", spc, token: token).response.status == 200)
        Self.jump(stage, seconds)
        #expect(await stage.ask("fairplay", spc, token: token).code == "tokenRefused")
        Self.jump(stage, -seconds)
        let answer = await stage.ask("fairplay", spc, token: token)
        #expect(answer.response.status == 200, "\(answer.code ?? "")")
    }

    @Test(arguments: [3_600, -3_600.0])
    func `a rate limit does not depend on the date`(seconds: Double) {
        let clock = ManualTimekeeper()
        let limiter = RateLimiter([.address: RateLimit(1, per: .seconds(1), burst: 5)], timekeeper: clock)
        let first = (0..<6).map { _ in limiter.refusal(.address, "a") }
        #expect(first.filter { $0 == nil }.count == 5)
        let wait = limiter.refusal(.address, "a")
        clock.setDate(clock.date.addingTimeInterval(seconds))
        #expect(limiter.refusal(.address, "a") == wait && wait != nil)
        clock.advance(by: .seconds(1))
        #expect(limiter.refusal(.address, "a") == nil)
        #expect(limiter.refusal(.address, "a") != nil)
    }
}
