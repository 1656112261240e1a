import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyPolicy
@testable import LatchkeyVault

/// The limits of a tenant: what is refused at the bound, what is not, and what nodes know of each other.
@Suite(.timeLimit(.minutes(1))) struct TenantUsageTests {
    private static let policy =
        #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"mode":"stopOldest"}"#

    /// A license for a viewer's session.
    private static func license(_ stage: APIStage, _ viewer: String, session: UInt64) async throws -> APIAnswer {
        await stage.ask(
            "fairplay", try stage.exchange(session: session).spc.revealed, token: try stage.token(for: viewer))
    }

    @Test func `beyond the limit of sessions a new one is refused and leaves no slot; renewals and exchanges go on`()
        async throws
    {
        let stage = try await APIStage(Self.policy, settings: #""limits":{"sessions":2}"#)
        for (number, viewer) in ["ann", "bob"].enumerated() {
            #expect(try await Self.license(stage, viewer, session: UInt64(number) + 1).response.status == 200)
        }
        let third = try await Self.license(stage, "cid", session: 3)
        #expect(third.response.status == 429 && third.code == "tenantSessionLimit", "\(third.code ?? "")")
        #expect(third.response.headers[.retryAfter] == "60")
        #expect(third.report.record == nil, "It would tell of a license that nobody got.")
        #expect(try await stage.accounts.account("cid", of: "acme").slots.isEmpty)
        // Ann renews, and goes on at another device, which stops the first one.
        #expect(try await Self.license(stage, "ann", session: 1).response.status == 200)
        #expect(try await Self.license(stage, "ann", session: 4).response.status == 200)
        let usage = stage.tenant.usage
        #expect(usage.used(stage.tenant.settings.limits, at: stage.time.date) == [.sessions: 2])
        usage.learn(sessions: 1, including: usage.taken)
        #expect(try await Self.license(stage, "cid", session: 3).response.status == 200)
        #expect(try await Self.license(stage, "dan", session: 5).code == "tenantSessionLimit")
    }

    @Test func `a count of slots includes those that were taken before it was asked for, and not those after`() {
        let usage = TenantUsage()
        usage.learn(sessions: 5, including: 0)
        var limits = TenantSettings.Limits()
        limits.sessions = 10
        #expect(usage.used(limits, at: Date()) == [.sessions: 5])
    }

    @Test func `beyond a day's licenses a playback does not begin, one that runs goes on, and the next day is another`()
        async throws
    {
        let stage = try await APIStage(Self.policy, settings: #""limits":{"licensesPerDay":2}"#)
        for (number, viewer) in ["ann", "bob"].enumerated() {
            #expect(try await Self.license(stage, viewer, session: UInt64(number) + 1).response.status == 200)
        }
        let third = try await Self.license(stage, "cid", session: 3)
        #expect(third.response.status == 429 && third.code == "tenantLicenseLimit")
        // 2026-01-01T00:00:00Z is when the stage begins.
        #expect(third.response.headers[.retryAfter] == "86400")
        #expect(try await Self.license(stage, "ann", session: 1).response.status == 200)
        #expect(stage.tenant.usage.used(stage.tenant.settings.limits, at: stage.time.date) == [.licensesPerDay: 3])
        stage.time.advance(by: .seconds(86_400))
        #expect(try await Self.license(stage, "cid", session: 3).response.status == 200)
    }

    @Test func `nodes add up a day's licenses, and none is lost or counted twice where an exchange fails`() async throws
    {
        let (store, date) = (MemoryRecordStore(), Date(timeIntervalSince1970: 1_767_225_600))
        let accounts = AccountSessions(accounts: store, secrets: [])
        var limits = TenantSettings.Limits()
        limits.licensesPerDay = 100
        let nodes = [TenantUsage(), TenantUsage()]
        func exchange(_ usage: TenantUsage) async throws {
            for (day, own) in usage.unshared(at: date) {
                let total = try await accounts.add(own, to: "licenses/\(day)", of: "acme", until: .distantFuture)
                usage.learn(licenses: total, of: day, including: own)
            }
        }
        for (node, count) in zip(nodes, [7, 5]) {
            for _ in 0..<count { #expect(Self.grant(node, limits, at: date) == nil) }
        }
        for node in nodes + nodes { try await exchange(node) }
        for node in nodes { #expect(node.used(limits, at: date) == [.licensesPerDay: 12]) }
        // What was granted while the exchange went on is told with the next one.
        let told = try #require(nodes[0].unshared(at: date)["2026-01-01"])
        _ = Self.grant(nodes[0], limits, at: date)
        nodes[0].learn(licenses: 12, of: "2026-01-01", including: told)
        #expect(nodes[0].unshared(at: date)["2026-01-01"] == 1)
        // Another tenant has a count of its own.
        #expect(try await accounts.add(0, to: "licenses/2026-01-01", of: "other", until: .distantFuture) == 0)
    }

    private static func grant(_ usage: TenantUsage, _ limits: TenantSettings.Limits, at date: Date) -> LicenseRefusal? {
        let decision = Decision.license(LicenseTerms(), .none, renewAfter: nil, delivers: .keyAndDuration, notes: [])
        let booked = BookedDecision(
            decision: decision, origin: .init(facts: Facts(), policy: Policy(), requestID: nil), slot: nil,
            isTaken: false,
            heartbeatToken: nil, heartbeat: nil, account: nil)
        return usage.refusal(of: booked, limits, at: date)
    }

    @Test func `at 80 percent of a limit there is a word for it, once, and below none`() {
        let usage = TenantUsage()
        var limits = TenantSettings.Limits()
        (limits.keys, limits.sessions) = (100, 10)
        usage.learn(keys: 79)
        #expect(usage.notices("acme", limits, at: Date()) == [] && usage.news(limits, at: Date()) == [])
        usage.learn(keys: 80)
        #expect(usage.news(limits, at: Date()) == [.keys] && usage.news(limits, at: Date()) == [])
        let notice = usage.notices("acme", limits, at: Date())
        #expect(notice.count == 1 && notice[0].hasPrefix("tenants.acme.limits.keys: 80 of 100 are used."), "\(notice)")
        usage.learn(keys: 10)
        _ = usage.news(limits, at: Date())
        usage.learn(keys: 99)
        #expect(usage.news(limits, at: Date()) == [.keys])
    }

    @Test func `a limit of 0, and an operator of a tenant that there is not, are faults with their places`() throws {
        let key = String(repeating: "ab", count: 32)
        let json = #"""
            {"version":1,"tenants":{"a":{"limits":{"sessions":0,"keys":1}}},
             "admins":[{"name":"x","key":"\#(key)","tenants":["a","gone"]},
              {"name":"x","key":"\#(key.replacing("a", with: "c"))","tenants":"all"},
              {"name":"y","key":"\#(key.replacing("a", with: "d"))","tenants":[]}]}
            """#
        let problems = try ServerSettings.whatFits(of: Data(json.utf8)).problems.map { "\($0.place)" }
        for place in ["tenants.a.limits.sessions", "admins[0].tenants", "admins[1].tenants", "admins[2].tenants"] {
            #expect(problems.contains(place), "\(problems)")
        }
        #expect(!problems.contains("tenants.a.limits.keys"))
    }
}
