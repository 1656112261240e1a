import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyServer

@Suite(.timeLimit(.minutes(5))) struct TokenUseTests {
    private struct Down: Error {}
    private struct DownStore: TokenUseStore {
        func bind(
            _ token: TokenUseDigest, to session: TokenUseDigest, at date: Date, until end: Date
        ) async throws -> TokenBinding { throw Down() }
    }

    private let clock = ManualTimekeeper(date: SampleTokens.now)
    private let store = MemoryTokenUseStore()
    private let errors = Locked<[String]>([])

    private func use(
        _ store: (any TokenUseStore)? = nil, window: Duration = .seconds(60), outage: OutageChoice = .refuse
    ) -> TokenUse {
        TokenUse(store ?? self.store, window: window, outage: outage, timekeeper: clock) { [errors] error in
            errors.withLock { $0.append("\(type(of: error))") }
        }
    }

    private func token(_ identifier: String? = "t-1", life: TimeInterval = 300) -> VerifiedToken {
        VerifiedToken(
            claims: identifier.map { ["jti": .text($0)] } ?? [:], keyID: nil,
            expiry: SampleTokens.now.addingTimeInterval(life), issued: nil)
    }

    @Test func `one session uses its token for all its keys, and nobody else does`() async {
        let use = use()
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .first)
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-2") == .refused(.tokenUsedElsewhere))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
        #expect(LicenseRefusal.tokenUsedElsewhere.status == 403)
    }

    @Test func `the session's time counts from its first use`() async {
        let use = use()
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .first)
        clock.advance(by: .seconds(40))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
        clock.advance(by: .seconds(20))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
        clock.advance(by: .seconds(1))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .refused(.tokenUsedElsewhere))
    }

    @Test func `a window of zero is for one instant`() async {
        let use = use(window: .zero)
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .first)
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
        clock.advance(by: .milliseconds(1))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .refused(.tokenUsedElsewhere))
    }

    @Test(arguments: [("b", "c", "bc", ""), ("bc", "d", "b", "cd"), ("one", "t", "two", "t")])
    func `tenants' tokens are told apart`(_ tenant: String, _ name: String, _ other: String, _ next: String)
        async throws
    {
        let use = use()
        #expect(await use.verdict(on: token(name), of: tenant, in: "s-1") == .first)
        #expect(try TokenUseDigest(tenant, name) != TokenUseDigest(other, next))
        if !next.isEmpty { #expect(await use.verdict(on: token(next), of: other, in: "s-2") == .first) }
    }

    @Test(arguments: [nil, ""]) func `a token without an identifier is refused`(_ identifier: String?) async {
        #expect(await use().verdict(on: token(identifier), of: "tenant", in: "s") == .refused(.tokenNotSingle))
        #expect(store.count == 0)
    }

    @Test func `a token is remembered to its end and the leeway, and not longer`() async {
        let use = use()
        #expect(await use.verdict(on: token(life: 100), of: "tenant", in: "s-1") == .first)
        clock.advance(by: .seconds(129))
        #expect(await use.verdict(on: token(life: 100), of: "tenant", in: "s-2") == .refused(.tokenUsedElsewhere))
        clock.advance(by: .seconds(1))
        #expect(await use.verdict(on: token("t-2"), of: "tenant", in: "s-2") == .first)
        #expect(store.count == 1)
    }

    @Test func `of many sessions at once one gets the token`() async {
        let use = use()
        let firsts = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask { await use.verdict(on: token(), of: "tenant", in: "s-\(number)") == .first }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(firsts == 1)
    }

    @Test(arguments: [(OutageChoice.allow, TokenUse.Verdict.unchecked), (.refuse, .refused(.tokenUseUnavailable))])
    func `while the store is down the rule decides`(_ rule: OutageChoice, _ verdict: TokenUse.Verdict) async {
        #expect(await use(DownStore(), outage: rule).verdict(on: token(), of: "tenant", in: "s") == verdict)
        #expect(errors.withLock { $0 } == ["Down"])
        #expect(LicenseRefusal.tokenUseUnavailable.status == 503)
    }

    @Test func `a full store forgets nothing, and has room again when tokens end`() async {
        let store = MemoryTokenUseStore(limit: 2)
        let use = use(store)
        #expect(await use.verdict(on: token("a", life: 10), of: "tenant", in: "s") == .first)
        #expect(await use.verdict(on: token("b", life: 300), of: "tenant", in: "s") == .first)
        #expect(await use.verdict(on: token("c"), of: "tenant", in: "s") == .refused(.tokenUseUnavailable))
        #expect(errors.withLock { $0 } == ["TokenUseStoreFull"])
        #expect(await use.verdict(on: token("a", life: 10), of: "tenant", in: "s") == .again)
        #expect(await use.verdict(on: token("a", life: 10), of: "tenant", in: "other") == .refused(.tokenUsedElsewhere))
        clock.advance(by: .seconds(40))
        #expect(await use.verdict(on: token("c"), of: "tenant", in: "s") == .first)
        #expect(store.count == 2)
    }

    @Test func `a date that goes back neither forgets nor frees`() async {
        let use = use()
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .first)
        clock.setDate(SampleTokens.now - 3_600)
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-2") == .refused(.tokenUsedElsewhere))
        #expect(await use.verdict(on: token(), of: "tenant", in: "s-1") == .again)
    }
}
