import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct OfflineKeysTests {
    private let harness = OfflineHarness()
    private var offline: OfflineKeys { harness.offline }

    @Test func `an asset is ready when the last of its keys is stored`() async throws {
        try await offline.register("movie", keys: [audio, sd, hd])
        for key in [audio, sd] {
            try await harness.fetch(key)
            #expect(try await offline.asset("movie")?.isReady == false)
        }
        try await harness.fetch(hd)
        #expect(try await offline.asset("movie")?.isReady == true)
        #expect(try await harness.state() == .stored)
        #expect(try await harness.remaining() == nil)
    }

    @Test func `a stored key is the player's form of the CKC`() async throws {
        try await harness.download("movie", [sd])
        #expect(try await offline.storedKey(for: sd) == stored())
    }

    @Test func `only an asset's keys are requested for storage`() async throws {
        try await offline.register("movie", keys: [sd])
        #expect(await offline.asset(needing: sd) == "movie")
        #expect(await offline.asset(needing: hd) == nil)
    }

    @Test func `an unneeded key is answered and not stored`() async throws {
        #expect(try await harness.fetch(sd) == stored())
        #expect(harness.events == ["failed offlineKeyNotRequested host/sd"])
        #expect(harness.store.contents.isEmpty)
    }

    @Test func `another launch finds everything unchanged`() async throws {
        try await harness.download("movie", [audio, sd], .dualExpiry(storage: .days(30), playback: .days(2)))
        offline.started(sd)
        let list = try await offline.assets()
        let next = OfflineHarness(after: harness)
        #expect(try await next.offline.assets() == list)
        #expect(try await next.offline.storedKey(for: audio) == stored())
        #expect(list.first?.state == .playing)
    }

    @Test func `choosing other renditions keeps the shared keys`() async throws {
        try await harness.download("movie", [audio, sd])
        let asset = try await offline.register("movie", keys: [audio, hd])
        #expect(asset.keys.map(\.uri) == [audio, hd])
        #expect(asset.keys.map(\.state) == [.stored, .requested])
        #expect(harness.store.contents.count == 2)
    }

    @Test func `deleting an asset keeps the keys that another needs and returns the others`() async throws {
        try await harness.download("movie", [audio, sd])
        try await harness.download("sequel", [audio, hd])
        #expect(try await offline.delete("movie").map(\.uri) == [sd])
        #expect(try await offline.storedKey(for: sd) == nil)
        #expect(try await offline.asset("sequel")?.isReady == true)
        #expect(try await offline.delete("sequel").map(\.uri) == [audio, hd])
        #expect(Set(harness.store.contents.keys) == [.index])
        #expect(try await offline.delete("sequel").isEmpty)
    }

    @Test func `signing out leaves nothing behind`() async throws {
        try await harness.download("movie", [audio, sd])
        var lists = offline.changes().makeAsyncIterator()
        #expect(await lists.next()?.count == 1)
        #expect(try await offline.deleteAll().map(\.uri) == [audio, sd])
        #expect(harness.store.contents.isEmpty)
        #expect(await lists.next() == [])
        try await harness.download("movie", [hd])
        #expect(try await offline.assets().first?.keys.map(\.uri) == [hd])
    }

    @Test func `a key removed from the store is wanted again`() async throws {
        try await harness.download("movie", [sd])
        for item in harness.store.contents.keys where item != .index { harness.store.put(nil, at: item) }
        #expect(try await offline.storedKey(for: sd) == nil)
        #expect(try await harness.state() == .requested)
    }

    @Test func `limits have names`() async throws {
        let harness = OfflineHarness(policy: OfflinePolicy(largestKey: 16, assets: 2, keys: 3))
        let offline = harness.offline
        await #expect(throws: OfflineError(.offlineAssetWithoutKeys, "The asset movie was registered without a key.")) {
            try await offline.register("movie", keys: [])
        }
        try await offline.register("movie", keys: [sd])
        await #expect(throws: OfflineError(.tooManyOfflineKeys, "All assets together would need more than 3 keys.")) {
            try await offline.register("sequel", keys: [audio, hd, "skd://host/uhd"])
        }
        try await offline.register("sequel", keys: [audio])
        await #expect(throws: OfflineError(.tooManyOfflineAssets, "There are 2 assets already.")) {
            try await offline.register("prequel", keys: [sd])
        }
        #expect(try await offline.assets().map(\.id) == ["movie", "sequel"])
        try await harness.fetch(sd, ckc: "a long CKC")
        #expect(harness.events == ["failed storedKeyTooLarge host/sd"])
        #expect(try await harness.state() == .requested)
    }
}

// MARK: - A player's actions

extension OfflineKeysTests {
    @Test func `a key that the player updates replaces the stored one and counts as played`() async throws {
        try await harness.download("movie", [sd], .dualExpiry(storage: .days(30), playback: .days(2)))
        offline.updated(sd, to: Secret("second"))
        #expect(try await offline.storedKey(for: sd) == Secret("second"))
        #expect(try await harness.state() == .playing)
        #expect(harness.store.contents.count == 2)
    }

    @Test func `an update of a wanted key is stored`() async throws {
        try await offline.register("movie", keys: [sd])
        offline.updated(sd, to: Secret("second"))
        #expect(try await offline.storedKey(for: sd) == Secret("second"))
    }

    @Test func `an update of a deleted key stays deleted`() async throws {
        try await harness.download("movie", [sd])
        try await offline.delete("movie")
        offline.updated(sd, to: Secret("second"))
        #expect(try await offline.storedKey(for: sd) == nil)
        #expect(Set(harness.store.contents.keys) == [.index])
    }

    @Test func `only the first play counts`() async throws {
        try await harness.download("movie", [sd], .dualExpiry(storage: .days(30), playback: .days(2)))
        offline.started(sd)
        _ = try await offline.assets()
        harness.clock.advance(by: .hours(5))
        offline.updated(sd, to: Secret("second"))
        offline.started(sd)
        #expect(try await harness.remaining() == .hours(43))
    }

    @Test func `a rejected stored key is fetched once more, then dropped`() async throws {
        try await harness.download("movie", [sd])
        #expect(try await offline.rejected(sd) == .fetchAgain)
        #expect(try await offline.storedKey(for: sd) == nil)
        #expect(try await harness.state() == .requested)
        try await harness.fetch(sd)
        #expect(try await offline.rejected(sd) == .giveUp)
        #expect(try await offline.storedKey(for: sd) == nil)
        #expect(harness.events.filter { $0.hasPrefix("storedKeyDropped") }.count == 2)
    }

    @Test(arguments: ["started", "updated", "requested"])
    func `a key played or requested since may be fetched again`(_ what: String) async throws {
        try await harness.download("movie", [sd])
        _ = try await offline.rejected(sd)
        try await harness.fetch(sd)
        switch what {
        case "started": offline.started(sd)
        case "updated": offline.updated(sd, to: Secret("second"))
        default: try await offline.register("movie", keys: [sd])
        }
        #expect(try await offline.rejected(sd) == .fetchAgain)
    }

    @Test func `a rejected key that is not stored is never refetched`() async throws {
        try await offline.register("movie", keys: [sd])
        #expect(try await offline.rejected(sd) == .giveUp)
    }
}
