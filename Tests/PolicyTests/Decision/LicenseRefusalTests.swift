import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct LicenseRefusalTests {
    static let statuses: [(PolicyObjection, Int, RetryAdvice)] = [
        (.rateLimit, 429, .later), (.blocked, 403, .never), (.accountBlocked, 403, .never),
        (.deviceBlocked, 403, .never), (.notBegun, 403, .never), (.ended, 403, .never),
        (.right, 403, .never), (.place, 403, .never), (.client, 403, .never), (.track, 403, .never),
        (.output, 403, .never), (.deviceLimit, 403, .never), (.downloadLimit, 403, .never),
        (.sessionMissing, 403, .never),
        (.sessionStopped, 403, .never), (.storeUnavailable, 503, .later), (.stopping, 503, .later),
    ]

    @Test(arguments: statuses)
    func `each objection has a code, a status, a remedy and whether to retry`(
        _ objection: PolicyObjection, _ status: Int, _ retry: RetryAdvice
    ) {
        let refusal = LicenseRefusal(.policy(objection), reason: "Because.")
        #expect(refusal.code == objection.rawValue)
        #expect(refusal.status == status)
        #expect(refusal.retry == retry)
        #expect(refusal.remedy.hasSuffix("."))
        #expect((refusal.retryAfterSeconds != nil) == (retry == .later))
    }

    @Test func `the table has every objection`() {
        #expect(Set(Self.statuses.map(\.0)) == Set(PolicyObjection.allCases))
    }

    @Test(arguments: [
        (LicenseRefusal.Kind.tokenExpired, RetryAdvice.withNewToken), (.tokenUsed, .never), (.notCovered, .never),
        (.sessionLimit, .afterViewerActs), (.overloaded, .later), (.unknownKey, .never),
    ])
    func `refusals of requests also say whether to retry`(_ kind: LicenseRefusal.Kind, _ retry: RetryAdvice) {
        #expect(LicenseRefusal(kind, reason: "x").retry == retry)
    }

    @Test func `the body of a native API is the documented one`() {
        let slot = Scene.slot("s", fence: 36, device: "TV \u{1b}\"x\"")
        let refusal = LicenseRefusal(
            .sessionLimit, reason: "Two.", message: "streams-in-use", conflicts: [SessionConflict(slot)])
        #expect(
            String(decoding: refusal.body(requestID: "r-1"), as: UTF8.self) == """
                {"error":{"code":"sessionLimit","message":"streams-in-use","reason":"Two.",\
                "remedy":"End playback on another device.","requestId":"r-1",\
                "sessions":[{"device":"TV \\\\u{1b}\\"x\\"","started":"\(DateText.text(slot.started))","stop":"10"}]}}
                """)
    }

    @Test(arguments: [(nil, 1), (0.2, 1), (1.0, 1), (1.1, 2), (90, 90), (1e300, 4_294_967_295)] as [(Double?, Int)])
    func `a wait is whole seconds, rounded up`(_ seconds: Double?, _ told: Int) {
        let wait = seconds.flatMap { Duration(clampingSeconds: $0) }
        let refusal = LicenseRefusal(.policy(.rateLimit), reason: "x", retryAfter: wait)
        #expect(refusal.retryAfterSeconds == told)
    }

    @Test func `a rate limit says when its minute ends`() throws {
        let decision = try Scene.decision(#""limits":{"licensesPerMinute":1}"#) {
            $0.account.minute = .init(began: Scene.now - 18, licenses: 1)
        }
        #expect(decision.refusal?.retryAfterSeconds == 42)
    }
}
