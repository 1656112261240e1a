import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// An account's counts: each count alone, in a separate account, so that nothing else keeps the record.
@Suite(.timeLimit(.minutes(1))) struct AccountCountTests {
    private let scene = AccountScene()

    private func word(
        _ accountSessions: AccountSessions, _ policy: String, _ session: String,
        _ change: (inout Facts) -> Void = { _ in }
    ) async throws -> String {
        await accountSessions.decide(AccountScene.facts(session, change), by: try Scene.policy(policy)).decision.word
    }

    @Test func `a download without an end counts forever`() async throws {
        let (accountSessions, policy) = (scene.accountSessions(), #""download":{"allow":true,"perAccount":1}"#)
        #expect(try await word(accountSessions, policy, "a") { $0.request.purpose = .download } == "license")
        scene.clock.advance(by: .seconds(86_400 * 365))
        #expect(try await word(accountSessions, policy, "b") { $0.request.purpose = .download } == "downloadLimit")
    }

    @Test(arguments: [LicenseRequestFacts.Purpose.stream, .download])
    func `licenses per minute are limited, whatever their purpose`(_ purpose: LicenseRequestFacts.Purpose)
        async throws
    {
        let (accountSessions, policy) = (
            scene.accountSessions(), #""download":{"allow":true},"limits":{"licensesPerMinute":2}"#
        )
        for _ in 0..<2 {
            for expected in ["license", "license", "rateLimit"] {
                #expect(try await word(accountSessions, policy, "a") { $0.request.purpose = purpose } == expected)
            }
            scene.clock.advance(by: .seconds(60))
        }
    }

    /// The figures of PostgreSQL in `Documentation/Server/Regions.md`: each is a trip, except that both reads go together.
    @Test func `without a guess a license reads and writes its store, and so does a heartbeat`() async throws {
        let calls = Locked<[InterruptedStore.Call]>([])
        let store = InterruptedStore(
            store: scene.store, before: { call, _ throws(StoreError) in calls.withLock { $0.append(call) } })
        let accountSessions = scene.accountSessions(store)
        func asked(_ body: () async throws -> Void) async throws -> [InterruptedStore.Call] {
            calls.withLock { $0 = [] }
            try await body()
            return calls.withLock { $0 }
        }
        let lease = AccountScene.lease + #","concurrency":{"limit":1,"heartbeat":"60s"}"#
        var token: String?
        let license = try await asked {
            token = await accountSessions.decide(AccountScene.facts("a"), by: try Scene.policy(lease)).heartbeatToken
        }
        #expect(license == [.read, .write])
        scene.clock.advance(by: .seconds(60))
        let heartbeat = try await asked { _ = await accountSessions.heartbeat(try #require(token), of: "demo") }
        #expect(heartbeat == [.read, .write])
        let single = lease + #","token":{"singleUse":true}"#
        scene.clock.advance(by: .seconds(60))
        var words: [String] = []
        let used = try await asked { words.append(try await word(accountSessions, single, "a")) }
        #expect(used == [.read, .read, .write, .write])
        let refused = try await asked { words.append(try await word(accountSessions, lease, "b")) }
        #expect(refused == [.read])
        #expect(words == ["license", "sessionLimit"])
    }

    @Test func `the renewal of an unknown device does not make it known`() async throws {
        let (accountSessions, policy) = (scene.accountSessions(), #""devices":{"limit":1}"#)
        #expect(try await word(accountSessions, policy, "a") == "license")
        #expect(try await word(accountSessions, policy, "b") { $0.request.playback = .leaseExpiring } == "license")
        #expect(try await accountSessions.account("anna", of: "demo").devices.keys.sorted() == ["device-of-a"])
        #expect(try await word(accountSessions, policy, "a") == "license")
    }

    @Test func `of two policies' windows the longer one keeps a device`() async throws {
        let accountSessions = scene.accountSessions()
        let (month, day) = (#""devices":{"limit":9,"window":"30d"}"#, #""devices":{"limit":9,"window":"1d"}"#)
        _ = try await word(accountSessions, month, "a")
        _ = try await word(accountSessions, day, "a") { $0.key.content = "other" }
        scene.clock.advance(by: .seconds(2 * 86_400))
        _ = try await word(accountSessions, month, "b") { $0.now = Scene.now + 2 * 86_400 }
        #expect(
            try await accountSessions.account("anna", of: "demo").devices.keys.sorted() == [
                "device-of-a", "device-of-b",
            ])
    }

    @Test func `a key with more frequent heartbeats does not shorten the playback's slot`() async throws {
        let accountSessions = scene.accountSessions()
        func policy(_ heartbeat: String) throws -> Policy {
            try Scene.policy(
                AccountScene.lease + #","concurrency":{"limit":1,"heartbeat":"\#(heartbeat)","grace":"10s"}"#)
        }
        let long = await accountSessions.decide(
            AccountScene.facts("s") { $0.key.track = .audio }, by: try policy("60s"))
        let short = await accountSessions.decide(AccountScene.facts("s") { $0.key.track = .hd }, by: try policy("30s"))
        let end = Scene.now + 130
        #expect(
            await accountSessions.heartbeat(try #require(long.heartbeatToken), of: "demo") == .continues(until: end))
        #expect(
            await accountSessions.heartbeat(try #require(short.heartbeatToken), of: "demo") == .continues(until: end))
    }

    @Test func `a failed license takes no slot that another key of the playback renewed in the same moment`()
        async throws
    {
        let (accountSessions, policy) = (scene.accountSessions(), try Scene.policy(AccountScene.one))
        let first = await accountSessions.decide(AccountScene.facts("s") { $0.key.track = .audio }, by: policy)
        _ = await accountSessions.decide(AccountScene.facts("s") { $0.key.track = .hd }, by: policy)
        await accountSessions.undo(first, tookSlot: first.isTaken)
        #expect(try await accountSessions.slots() == ["s"])
    }

    @Test func `a store that refuses the server is out of service, and is left alone`() async throws {
        let calls = Locked(0)
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { _, _ throws(StoreError) in
                    calls.withLock { $0 += 1 }
                    throw StoreError(.misconfigured, "interrupted", reason: "Odd.")
                }))
        for _ in 0..<6 { _ = try await word(accountSessions, AccountScene.one, "s") }
        #expect(accountSessions.watched[0].health.isAway)
        scene.clock.advance(by: .seconds(2))
        for _ in 0..<6 { _ = try await word(accountSessions, AccountScene.one, "s") }
        #expect(calls.withLock { $0 } == 7)
    }
}
