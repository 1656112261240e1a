import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyHTTP
@testable import LatchkeyLicensing
@testable import LatchkeyVault

/// The issuer's hand-overs between the parts: lanes to the pool, slots back to the book, the earliest renewal to a page.
@Suite(.timeLimit(.minutes(1))) struct LicenseIssuerTests {
    private static func kid(_ number: UInt8) throws -> KeyID {
        try #require(KeyID(bytes: [UInt8](repeating: number, count: 16)))
    }

    private static let lease = #""validity":{"type":"lease","lease":"5m"}"#

    @Test func `renewals, starts and downloads use separate lanes`()
        async throws
    {
        let pool = WorkerPool(threads: 2)
        let lanes = Locked<[AdmissionLane]>([])
        pool.observe(AdmissionObserver(refused: { refusal in lanes.withLock { $0.append(refusal.lane) } }))
        let stage = try await APIStage(pool: pool)
        let spc = try stage.exchange().spc.revealed
        #expect(await stage.ask("fairplay", spc, token: try stage.token(for: "anna")).response.status == 200)
        // A pool that refuses names the lane.
        pool.drain()
        for (viewer, purpose) in [("anna", "stream"), ("bob", "stream"), ("anna", "download"), ("bob", "renewStored")] {
            let answer = await stage.ask(
                "fairplay", spc, token: try stage.token(for: viewer), headers: ["X-Latchkey-Purpose": purpose])
            #expect(answer.response.status == 503)
        }
        #expect(lanes.withLock { $0 } == [.renewal, .start, .stored, .stored])
        // The lease has ended, and anna begins anew.
        stage.time.advance(by: .seconds(301))
        _ = await stage.ask("fairplay", spc, token: try stage.token(for: "anna"))
        #expect(lanes.withLock { $0 }.last == .start)
    }

    @Test func `a license that cannot be sealed leaves its slot to others`() async throws {
        let isBroken = Locked(true)
        let randomness: LicenseIssuer.Randomness = { () throws(KSMRefusal) in
            if isBroken.withLock(\.self) { throw KSMRefusal(.integrity, reason: "The test takes randomness away.") }
            return SeededGenerator(seed: 1)
        }
        let stage = try await APIStage(Self.lease + #","concurrency":{"limit":1}"#, randomness: randomness)
        let answer = await stage.ask("fairplay", try stage.exchange().spc.revealed, token: try stage.token())
        #expect(answer.response.status >= 400)
        #expect(try await stage.accounts.account("anna", of: "acme").slots.isEmpty)
        isBroken.withLock { $0 = false }
        let other = await stage.ask("fairplay", try stage.exchange(session: 2).spc.revealed, token: try stage.token())
        #expect(other.response.status == 200)
        #expect(try await stage.accounts.account("anna", of: "acme").slots.count == 1)
    }

    @Test func `of a browser's keys the one due first sets the page's next request`() async throws {
        let stage = try await APIStage(
            #""validity":{"type":"lease","lease":"10m"}"#, settings: #""clearKey":true"#,
            policies: ["short": Self.lease])
        let key = try #require(
            ContentKey(key: Secret([UInt8](repeating: 5, count: 16)), iv: Secret([UInt8](repeating: 6, count: 16))))
        let content = try #require(ContentName("movie"))
        let (long, short) = (try Self.kid(1), try Self.kid(2))
        for (kid, policies) in [(long, []), (short, ["short"])] {
            let demand = KeyDemand(KeyAddress(content: content, kid: kid))
            #expect(try await stage.vault.add([(demand, key)], policies: policies).isEmpty)
        }
        func renewal(_ kids: [KeyID]) async throws -> Int {
            let texts = kids.map { JSONValue.text(Base64URL.text($0.bytes)) }
            let body = JSONValue.object(["kids": .array(texts), "type": .text("temporary")])
            let answer = await stage.ask("clearkey", Data(body.canonicalText.utf8), token: try stage.token())
            return try #require(answer.response.headers["X-Latchkey-Renew-After"].flatMap { Int($0) })
        }
        let first = try await renewal([short])
        #expect(try await renewal([long]) > first)
        #expect(try await renewal([long, short]) == first)
        #expect(try await renewal([short, long]) == first)
    }
}
