import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Stored keys whose URIs carry a session's query: yesterday's key opens today's stream, and never another one's.
@Suite(.timeLimit(.minutes(2))) struct SessionURITests {
    private static let yesterday: KeyURI = "skd://host/id?kid=7&session=abc"
    private static let today: KeyURI = "skd://host/id?kid=7&session=def"

    private static func vendor(_ profile: VendorProfile) -> @Sendable (KeyURI) throws -> ContentIdentifier {
        { try profile.contentIdentifier(for: $0) }
    }

    @Test(arguments: [
        (VendorProfile.vuDRM, yesterday, today), (.kaltura, "skd://id?session=abc", "skd://id?SESSION=def"),
        (.axinom, "skd://host/id?session=abc", "skd://host/id"),
        (.mux, "skd://4e0a8c3f?wowzasessionid=1001", "skd://4e0a8c3f?wowzasessionid=1002"),
        (.vuDRM, "skd://host/a/id?session_id=1#x", "skd://host/a/id?session_id=2"),
    ])
    func `a stored key is found by another session's URI`(
        _ profile: VendorProfile, _ stored: KeyURI, _ asked: KeyURI
    ) async throws {
        let harness = OfflineHarness(identifier: Self.vendor(profile))
        try await harness.download("movie", [stored], .dualExpiry(storage: .days(30), playback: .days(2)))
        #expect(await harness.offline.asset(needing: asked) == "movie")
        #expect(try await harness.offline.storedKey(for: asked) != nil)
        harness.offline.started(asked)
        harness.offline.updated(asked, to: Secret("changed"))
        #expect(try await harness.state() == .playing)
        #expect(try await harness.offline.storedKey(for: stored) == Secret("changed"))
        #expect(try await harness.offline.rejected(asked) == .fetchAgain)
        #expect(try await harness.state() == .requested)
    }

    @Test(arguments: [
        // An item outside the session's names a key, whatever its name.
        (VendorProfile.vuDRM, "skd://host/id?kid=7&session=abc" as KeyURI, "skd://host/id?kid=8&session=abc" as KeyURI),
        (.vuDRM, "skd://host/id?token=abc", "skd://host/id?token=def"),
        (.vuDRM, "skd://host/id?a", "skd://host/id?b"),
        (.vuDRM, "skd://host/id?session=abc", "skd://host/other?session=abc"),
        (.vuDRM, "skd://host/id?session=abc", "skd://elsewhere/id?session=abc"),
        // The vendor gives all keys the same name, so that only the whole URI distinguishes them.
        (.expressPlay, "skd://fp.example.com/rights/?session=abc", "skd://fp.example.com/rights/?session=def"),
        (.jwPlatform, "skd://host/id?session=abc", "skd://host/id?session=def"),
    ])
    func `two keys with one path do not mix`(
        _ profile: VendorProfile, _ stored: KeyURI, _ asked: KeyURI
    ) async throws {
        let harness = OfflineHarness(identifier: Self.vendor(profile))
        try await harness.download("movie", [stored])
        #expect(await harness.offline.asset(needing: asked) == nil)
        #expect(try await harness.offline.storedKey(for: asked) == nil)
        #expect(try await harness.offline.rejected(asked) == .giveUp)
        #expect(try await harness.state() == .stored)
    }

    @Test func `if a session's item separates two stored keys, no third one is used for them`() async throws {
        let harness = OfflineHarness(identifier: Self.vendor(.vuDRM))
        let keys: Set<KeyURI> = ["skd://host/id?session=1", "skd://host/id?session=2"]
        try await harness.download("movie", keys)
        #expect(try await harness.offline.asset("movie")?.keys.count == 2)
        #expect(await harness.offline.asset(needing: "skd://host/id?session=3") == nil)
        for key in keys { #expect(try await harness.offline.storedKey(for: key) != nil) }
        try await harness.offline.register("movie", keys: ["skd://host/id?session=3", "skd://host/id?session=4"])
        #expect(try await harness.state() == .requested)
    }

    @Test func `requesting an asset with another session's URIs keeps its keys for all that need them`()
        async throws
    {
        let harness = OfflineHarness(identifier: Self.vendor(.vuDRM))
        try await harness.download("movie", [Self.yesterday], .persistentFor(.days(2)))
        try await harness.offline.register("sequel", keys: [Self.yesterday])
        try await harness.offline.register("movie", keys: [Self.today])
        #expect(try await harness.offline.assets().map(\.isReady) == [true, true])
        #expect(try await harness.offline.assets().flatMap(\.keys).map(\.uri) == [Self.today, Self.today])
        #expect(harness.store.contents.count == 2)
        // A service still renews only the newest session.
        harness.clock.advance(by: .days(1))
        #expect(try await harness.offline.dueForRenewal().map(\.uri) == [Self.today])
    }

    @Test func `renewing a key with another session's URI replaces the stored one`() async throws {
        let harness = OfflineHarness(identifier: Self.vendor(.vuDRM))
        try await harness.download("movie", [Self.yesterday])
        try await harness.fetch(Self.today, nil, .replace, ckc: "newer")
        #expect(try await harness.offline.storedKey(for: Self.yesterday) == stored("newer"))
        let keys = try await harness.offline.asset("movie")?.keys
        #expect(keys?.map(\.uri) == [Self.today] && keys?.first?.renewed != nil)
    }

    @Test func `an app names its sessions' items`() async throws {
        let policy = OfflinePolicy(sessionItems: ["Hdnts"])
        let harness = OfflineHarness(policy: policy, identifier: Self.vendor(.vuDRM))
        try await harness.download("movie", ["skd://host/id?hdnts=1"])
        #expect(await harness.offline.asset(needing: "skd://host/id?HDNTS=2") == "movie")
        #expect(await harness.offline.asset(needing: "skd://host/id?hdnts=1&session=2") == nil)
    }

    @Test func `a loader finds a stored key offline by its vendor's name for it`() async throws {
        let (yesterday, today) = (KeyURI("\(key)?session=abc"), KeyURI("\(key)?session=def"))
        let store = MemoryKeyStore()
        let first = Harness { $0.keyStore = store }
        try await first.loader.offline?.register("movie", keys: [yesterday])
        let fetched = FakePersistableRequest(yesterday)
        first.loader.answer(fetched)
        #expect(await fetched.firstAnswer().ckc != nil)
        let next = Harness(over: FakeTransport { _, _ in .hang }) { $0.keyStore = store }
        let request = FakePersistableRequest(today)
        next.loader.answer(request)
        #expect(await request.firstAnswer().ckc == fetched.answers.first?.ckc)
    }
}
