import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct OfflineWindowTests {
    private static let dual = LicenseTerms.Validity.dualExpiry(storage: .days(30), playback: .days(2))
    private let harness = OfflineHarness()
    private var offline: OfflineKeys { harness.offline }

    @Test func `storage counts from the download and playback from the first play`() async throws {
        try await harness.download("movie", [sd], Self.dual)
        harness.clock.advance(by: .days(29))
        #expect(try await harness.remaining() == .days(1))
        offline.started(sd)
        #expect(try await harness.remaining() == .days(2))
        harness.clock.advance(by: .days(1.5))
        #expect(try await harness.remaining() == .days(0.5))
        #expect(try await harness.state() == .playing)
        harness.clock.advance(by: .days(0.5))
        #expect(try await harness.state() == .expired)
        #expect(try await harness.remaining() == .zero)
        #expect(try await offline.storedKey(for: sd) == nil)
    }

    @Test func `a key that is never played ends with its storage window`() async throws {
        try await harness.download("movie", [sd], Self.dual)
        harness.clock.advance(by: .days(30))
        #expect(try await harness.state() == .expired)
        #expect(try await offline.storedKey(for: sd) == nil)
    }

    @Test func `playing does not lengthen a window that has no part for playing`() async throws {
        try await harness.download("movie", [sd], .persistentFor(.days(7)))
        harness.clock.advance(by: .days(5))
        offline.started(sd)
        #expect(try await harness.remaining() == .days(2))
    }

    @Test(arguments: [nil, LicenseTerms.Validity.persistent, .lease(.seconds(600))])
    func `a key whose terms have no end has none`(_ terms: LicenseTerms.Validity?) async throws {
        try await harness.download("movie", [sd], terms)
        harness.clock.advance(by: .days(10_000))
        #expect(try await harness.state() == .stored)
        #expect(try await harness.remaining() == nil)
    }

    @Test func `a date from the service replaces the window that counts`() async throws {
        try await harness.download("movie", [sd], Self.dual)
        offline.setExpiry(harness.clock.date.addingTimeInterval(3_600), of: sd)
        #expect(try await harness.remaining() == .hours(1))
        offline.started(sd)
        offline.setExpiry(harness.clock.date.addingTimeInterval(7_200), of: sd)
        #expect(try await harness.remaining() == .hours(2))
        harness.clock.advance(by: .hours(2))
        #expect(try await harness.state() == .expired)
        try await harness.download("endless", [hd])
        offline.setExpiry(.distantPast, of: hd)
        offline.setExpiry(.distantPast, of: audio)
        #expect(try await harness.state("endless") == .expired)
        #expect(try await offline.asset("movie")?.keys.count == 1)
    }

    @Test func `an asset expires with the first of its keys`() async throws {
        try await offline.register("movie", keys: [audio, sd, hd])
        try await harness.fetch(audio)
        try await harness.fetch(sd, .persistentFor(.days(7)))
        harness.clock.advance(by: .days(8))
        #expect(try await harness.state() == .expired)
        #expect(try await offline.asset("movie")?.isReady == false)
    }
}

// MARK: - Renewal

extension OfflineWindowTests {
    @Test func `a key is due after half of its storage window, but not once it plays`() async throws {
        try await harness.download("movie", [audio, sd, hd], Self.dual)
        try await harness.fetch(hd, .persistent, .replace)
        offline.started(sd)
        harness.clock.advance(by: .days(15) - .seconds(1))
        #expect(try await offline.dueForRenewal().isEmpty)
        harness.clock.advance(by: .seconds(1))
        #expect(try await offline.dueForRenewal().map(\.uri) == [audio])
        harness.clock.advance(by: .days(15))
        #expect(try await offline.dueForRenewal().map(\.state) == [.expired])
    }

    @Test func `a renewal starts new windows with a new key`() async throws {
        try await harness.download("movie", [sd], Self.dual)
        offline.started(sd)
        harness.clock.advance(by: .days(1))
        try await harness.fetch(sd, Self.dual, .replace, ckc: "second")
        #expect(try await offline.storedKey(for: sd) == stored("second"))
        #expect(try await harness.remaining() == .days(30))
        #expect(try await offline.asset("movie")?.keys.first?.renewed == harness.clock.date)
        #expect(harness.store.contents.count == 2)
    }

    @Test func `a failed renewal leaves the stored key`() async throws {
        try await harness.download("movie", [sd], Self.dual)
        await #expect(throws: CancellationError.self) {
            _ = try await offline.key(for: FakePersistableRequest(sd, storedKey: .replace)) {
                throw CancellationError()
            }
        }
        #expect(try await offline.storedKey(for: sd) == stored())
    }

    @Test func `a vendor that renews no stored key says so`() async throws {
        let harness = OfflineHarness(renews: false)
        try await harness.download("movie", [sd], Self.dual)
        #expect(try await harness.offline.dueForRenewal().isEmpty)
        harness.clock.advance(by: .days(16))
        await #expect(throws: OfflineError(.storedKeyRenewalUnsupported, "The vendor does not renew stored keys.")) {
            try await harness.offline.dueForRenewal()
        }
        let error = await #expect(throws: ContentKeyError.self) { try await harness.fetch(sd, nil, .replace) }
        #expect(error?.code == "storedKeyRenewalUnsupported")
        #expect(try await harness.offline.storedKey(for: sd) == stored())
    }
}

// MARK: - A date that jumps

extension OfflineWindowTests {
    private var later: Date { harness.clock.date + 86_400 * 20 }

    @Test func `setting the date back lengthens no window, even in a new launch`() async throws {
        try await harness.download("movie", [sd], .persistentFor(.days(30)))
        harness.clock.advance(by: .days(20))
        #expect(try await harness.remaining() == .days(10))
        harness.clock.setDate(harness.clock.date - 86_400 * 15)
        #expect(try await harness.remaining() == .days(10))
        let next = OfflineHarness(after: harness)
        #expect(try await next.remaining() == .days(10))
        next.clock.advance(by: .days(4))
        #expect(try await next.remaining() == .days(6))
    }

    @Test(arguments: 0..<40)
    func `a window only shrinks through dates set back and new launches`(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var harness = harness
        try await harness.download("movie", [sd], Self.dual)
        if Bool.random(using: &generator) { harness.offline.started(sd) }
        var last = try #require(try await harness.remaining())
        for _ in 0..<20 {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: harness.clock.setDate(harness.clock.date - .random(in: 0...1_000_000, using: &generator))
            case 1: harness = OfflineHarness(after: harness)
            default: break
            }
            // A new launch trusts a date after ten minutes, and an index an hour older than the last look.
            #expect(try await harness.remaining() ?? .zero <= last + .hours(1))
            harness.clock.advance(by: .seconds(.random(in: 4_000...90_000, using: &generator)))
            let now = try #require(try await harness.remaining())
            #expect(now < last || now == .zero)
            last = now
        }
    }

    @Test func `a date set forward counts while it lasts and leaves nothing behind if soon undone`()
        async throws
    {
        try await harness.download("movie", [sd], .persistentFor(.days(7)))
        let date = harness.clock.date
        harness.clock.setDate(later)
        #expect(try await harness.state() == .expired)
        harness.clock.advance(by: .seconds(300))
        #expect(try await harness.state() == .expired)
        harness.clock.setDate(date + 300)
        #expect(try await harness.remaining() == .days(7) - .seconds(300))
        #expect(try await offline.storedKey(for: sd) == stored())
    }

    @Test func `a date that lasts ten minutes is trusted`() async throws {
        try await harness.download("movie", [sd], .persistentFor(.days(30)))
        let date = harness.clock.date
        harness.clock.setDate(later)
        #expect(try await harness.remaining() == .days(10))
        await harness.clock.untilSomeoneSleeps(for: .seconds(600))
        harness.clock.advance(by: .seconds(600))
        #expect(try await harness.remaining() == .days(10) - .seconds(600))
        harness.clock.setDate(date)
        #expect(try await harness.remaining() == .days(10) - .seconds(600))
        let next = OfflineHarness(after: harness)
        #expect(try await next.remaining() == .days(10) - .seconds(600))
    }

    @Test func `after a wrong date was trusted, the next license corrects the clock`() async throws {
        try await harness.download("movie", [audio, sd], .persistentFor(.days(7)))
        let date = harness.clock.date
        harness.clock.setDate(later)
        _ = try await offline.assets()
        harness.clock.advance(by: .seconds(600))
        _ = try await offline.assets()
        harness.clock.setDate(date + 600)
        #expect(try await harness.state() == .expired)
        try await harness.fetch(sd, .persistentFor(.days(7)), .replace)
        #expect(try await harness.state() == .stored)
        #expect(try await offline.storedKey(for: audio) == stored())
    }
}
