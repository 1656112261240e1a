import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import LatchkeyTesting
import SwitchedStores
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyVault

/// The limits of a tenant: the refusals at the bound, the exceptions, and the nodes' knowledge of each other.
@Suite(.timeLimit(.minutes(1))) struct TenantUsageTests {
    private static let policy =
        #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1,"mode":"stopOldest"}"#

    /// A license for a viewer's session.
    private static func license(_ stage: APIStage, _ viewer: String, session: UInt64) async throws -> APIAnswer {
        await stage.ask(
            "fairplay", try stage.exchange(session: session).spc.revealed,
            token: try stage.token(["jti": .text("\(viewer)-\(session)")], for: viewer))
    }

    @Test func `beyond the session limit a new one is refused and takes no slot; renewals and exchanges work`()
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
        // Ann renews, and continues on another device, which stops the first one.
        #expect(try await Self.license(stage, "ann", session: 1).response.status == 200)
        #expect(try await Self.license(stage, "ann", session: 4).response.status == 200)
        let (usage, limits) = (stage.tenant.usage, stage.tenant.settings.limits)
        #expect(usage.used(limits, at: stage.time.date).isEmpty, "The store was not asked.")
        #expect(usage.taken == 2)
        usage.learn(sessions: RecordCount(1, isWhole: true), including: usage.taken)
        #expect(usage.used(limits, at: stage.time.date).mapValues(\.value) == [.sessions: 1])
        #expect(try await Self.license(stage, "cid", session: 3).response.status == 200)
        #expect(try await Self.license(stage, "dan", session: 5).code == "tenantSessionLimit")
    }

    @Test func `a count of slots includes only slots taken before the query`() {
        let usage = TenantUsage()
        var limits = TenantSettings.Limits()
        limits.sessions = 10
        let bound = TenantBound(usage, limits, at: Date())
        for _ in 0..<2 { #expect(bound.take(.another) == nil) }
        bound.keep(.another)
        let asked = usage.taken
        // The second may be in the store's count by now, and may not.
        usage.learn(sessions: RecordCount(5, isWhole: false), including: asked)
        #expect(usage.used(limits, at: Date()).mapValues(\.value) == [.sessions: 6])
        bound.giveBack(.another)
        #expect(usage.used(limits, at: Date()).mapValues(\.value) == [.sessions: 5])
        #expect(bound.take(.another) == nil)
        bound.keep(.another)
        bound.undo(.another)
        #expect(usage.used(limits, at: Date()).mapValues(\.value) == [.sessions: 5])
        limits.sessions = 5
        #expect(
            usage.notices("acme", limits, at: Date()).map(\.text)
                == [
                    "tenants.acme.limits.sessions: At least 5 of 5 are used. Raise the limit, or expect refusals with tenantSessionLimit."
                ])
    }

    @Test func `a license beyond a limit stops no session, adds no device and uses no token`() async throws {
        let stage = try await APIStage(
            Self.policy + #","token":{"singleUse":true},"devices":{"limit":2}"#,
            settings: #""limits":{"licensesPerDay":1}"#)
        #expect(try await Self.license(stage, "ann", session: 1).response.status == 200)
        let before = try await stage.accounts.account("ann", of: "acme")
        #expect(before.slots.count == 1)
        // Ann continues on another device, which would stop the first one.
        #expect(try await Self.license(stage, "ann", session: 2).code == "tenantLicenseLimit")
        #expect(try await stage.accounts.account("ann", of: "acme") == before)
        #expect(try await stage.sessions.page(of: .token, "acme", prefix: "", after: nil, limit: 10).count == 1)
    }

    @Test func `beyond a day's licenses no playback starts, a running one continues, and the next day resets`()
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
        #expect(stage.tenant.usage.licenses(at: stage.time.date) == ["2026-01-01": 3])
        stage.time.advance(by: .seconds(86_400))
        #expect(try await Self.license(stage, "cid", session: 3).response.status == 200)
    }

    @Test func `a license that cannot be sent returns its slot and its room in the limits`() async throws {
        let stage = try await APIStage(Self.policy, settings: #""limits":{"licensesPerDay":2,"sessions":2}"#)
        let first = try await Self.license(stage, "ann", session: 1)
        #expect(try await Self.license(stage, "bob", session: 2).response.status == 200)
        #expect(first.response.status == 200 && stage.tenant.usage.taken == 2)
        // Once, however often the answer is copied.
        for copy in [first, first] { await copy.taken?.giveBack() }
        #expect(stage.tenant.usage.taken == 1)
        #expect(stage.tenant.usage.licenses(at: stage.time.date) == ["2026-01-01": 1])
        #expect(try await stage.accounts.account("ann", of: "acme").slots.isEmpty)
    }

    @Test func `nodes add up a day's licenses without loss or double counts if an exchange fails`() async throws {
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        let accounts = AccountSessions(accounts: MemoryRecordStore(), secrets: [])
        var limits = TenantSettings.Limits()
        limits.licensesPerDay = 100
        let nodes = [TenantUsage(), TenantUsage()]
        func exchange(_ usage: TenantUsage) async throws {
            for (day, own) in usage.licenses(at: date) {
                let others = try await accounts.share(
                    own, of: "licenses/\(day)", "acme", by: usage.process, until: .distantFuture)
                usage.learn(others: others, of: day, telling: own)
            }
        }
        for (node, count) in zip(nodes, [7, 5]) {
            let bound = TenantBound(node, limits, at: date)
            for _ in 0..<count { #expect(bound.take(.asMany) == nil) }
            #expect(node.used(limits, at: date).isEmpty)
        }
        // A write of which the node never learned.
        _ = try await accounts.share(7, of: "licenses/2026-01-01", "acme", by: nodes[0].process, until: .distantFuture)
        for node in nodes + nodes { try await exchange(node) }
        for node in nodes { #expect(node.used(limits, at: date).mapValues(\.value) == [.licensesPerDay: 12]) }
        // Licenses granted during the exchange are reported with the next one.
        #expect(TenantBound(nodes[0], limits, at: date).take(.asMany) == nil)
        nodes[0].learn(others: 5, of: "2026-01-01", telling: 7)
        #expect(nodes[0].licenses(at: date + 86_400) == ["2026-01-01": 8, "2026-01-02": 0])
        try await exchange(nodes[0])
        try await exchange(nodes[1])
        #expect(nodes[1].used(limits, at: date).mapValues(\.value) == [.licensesPerDay: 13])
        #expect(nodes[0].licenses(at: date + 86_400) == ["2026-01-02": 0])
        // Another tenant has its own count.
        #expect(
            try await accounts.share(0, of: "licenses/2026-01-01", "other", by: "x", until: .distantFuture) == 0)
    }

    @Test func `at 80 percent of a limit there is one notice, and below none`() {
        let usage = TenantUsage()
        var limits = TenantSettings.Limits()
        (limits.keys, limits.sessions) = (100, 10)
        func news(with keys: Int) -> [String] {
            usage.learn(keys: keys)
            return usage.news("acme", limits, at: Date())
        }
        #expect(news(with: 79) == [] && usage.notices("acme", limits, at: Date()).isEmpty)
        let told = news(with: 80)
        #expect(told.count == 1 && told[0].hasPrefix("tenants.acme.limits.keys: 80 of 100 are used."), "\(told)")
        // Near the bound it is not reported again; once the use has fallen well below, it is.
        for keys in [80, 79, 80, 75, 85] { #expect(news(with: keys) == []) }
        #expect(news(with: 74) == [] && news(with: 99).count == 1)
    }

    @Test func `a limit of 0, and an operator of an unknown tenant, are faults with their places`() throws {
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
