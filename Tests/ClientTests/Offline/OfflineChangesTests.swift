import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Adapters) @testable import Latchkey

@Suite(.timeLimit(.minutes(5))) struct OfflineChangesTests {
    private let harness = OfflineHarness()
    private var offline: OfflineKeys { harness.offline }

    @Test func `the list comes first, and again after each change`() async throws {
        var lists = offline.changes().makeAsyncIterator()
        #expect(await lists.next() == [])
        try await offline.register("movie", keys: [sd])
        #expect(await lists.next()?.map(\.state) == [.requested])
        try await harness.fetch(sd)
        #expect(await lists.next()?.map(\.state) == [.stored])
        offline.started(sd)
        #expect(await lists.next()?.map(\.state) == [.playing])
        try await offline.delete("movie")
        #expect(await lists.next() == [])
    }

    @Test func `the list comes again when a window ends, with one event`() async throws {
        try await harness.download("movie", [sd, hd], .persistentFor(.days(7)))
        try await harness.fetch(hd, .persistentFor(.days(9)), .replace)
        var lists = offline.changes().makeAsyncIterator()
        #expect(await lists.next()?.first?.isReady == true)
        await harness.clock.untilSomeoneSleeps(for: .days(7))
        harness.clock.advance(by: .days(7))
        #expect(await lists.next()?.first?.keys.map(\.state) == [.stored, .expired])
        await harness.clock.untilSomeoneSleeps(for: .days(2))
        harness.clock.advance(by: .days(2))
        #expect(await lists.next()?.first?.keys.map(\.state) == [.expired, .expired])
        #expect(harness.events.suffix(2) == ["storedKeyExpired host/sd", "storedKeyExpired host/hd"])
    }

    @Test func `closing ends the streams and leaves no timer, and keys are still stored`() async throws {
        try await harness.download("movie", [sd], .persistentFor(.days(7)))
        var lists = offline.changes().makeAsyncIterator()
        _ = await lists.next()
        await harness.clock.untilSomeoneSleeps(for: .days(7))
        offline.close()
        #expect(await lists.next() == nil)
        offline.updated(sd, to: Secret("second"))
        #expect(try await offline.storedKey(for: sd) == Secret("second"))
        var late = offline.changes().makeAsyncIterator()
        #expect(await late.next()?.count == 1)
        #expect(await late.next() == nil)
        while harness.clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test func `an unreadable store is read later`() async throws {
        try await harness.download("movie", [sd])
        let next = OfflineHarness(after: harness)
        next.store.failReads(OfflineError(.keyStoreUnreadable, "The device is locked."))
        var lists = next.offline.changes().makeAsyncIterator()
        await #expect(throws: OfflineError(.keyStoreUnreadable, "The device is locked.")) {
            try await next.offline.assets()
        }
        #expect(await next.offline.asset(needing: sd) == nil)
        next.store.failReads(nil)
        #expect(await next.offline.asset(needing: sd) == "movie")
        #expect(await lists.next()?.map(\.id) == ["movie"])
        #expect(next.events == ["failed keyStoreUnreadable", "failed keyStoreUnreadable host/sd"])
    }

    @Test func `a failed write changes nothing`() async throws {
        try await harness.download("movie", [sd])
        let list = try await offline.assets()
        harness.store.failWrites(OfflineError(.keyStoreUnwritable, "The disk is full."))
        await #expect(throws: OfflineError(.keyStoreUnwritable, "The disk is full.")) {
            try await offline.delete("movie")
        }
        await #expect(throws: OfflineError.self) { try await offline.register("sequel", keys: [hd]) }
        offline.updated(sd, to: Secret("second"))
        #expect(try await offline.assets() == list)
        #expect(try await offline.storedKey(for: sd) == stored())
        #expect(harness.events.last == "failed keyStoreUnwritable host/sd")
    }
}
