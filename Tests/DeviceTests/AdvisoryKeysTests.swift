import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDevice

@Suite struct AdvisoryKeysTests {
    private let timekeeper = ManualTimekeeper()
    private let setting = ExchangeSetting.small

    private func exchange(_ identifier: ContentIdentifier, _ advisory: AdvisoryKeys) throws -> KeyExchange? {
        var generator = SeededGenerator(seed: 3)
        return try setting.device.exchange(for: identifier, unlessHeldBy: advisory, using: &generator)
    }

    /// A key from a CKC, as a device has it.
    private func key(_ terms: LicenseTerms.Validity) throws -> DeviceKey {
        var generator = SeededGenerator(seed: 3)
        let exchange = try setting.device.exchange(for: "movie", using: &generator)
        let ckc = try setting.module.answer(exchange, with: .random(using: &generator), LicenseTerms(terms))
        return try exchange.open(ckc, at: timekeeper)
    }

    @Test func `a key that the system holds needs no SPC, and every other does`() throws {
        let advisory = AdvisoryKeys(timekeeper: timekeeper)
        #expect(try exchange("movie", advisory) != nil)
        advisory.hold(try key(.unlimited), for: "movie")
        #expect(try exchange("movie", advisory) == nil)
        #expect(try exchange("other", advisory) != nil)
    }

    @Test func `a key is held until playback may no longer start with it, or until it is revoked`() throws {
        let advisory = AdvisoryKeys(timekeeper: timekeeper)
        advisory.hold(try key(.lease(.seconds(60))), for: "movie")
        timekeeper.advance(by: .seconds(59))
        #expect(advisory.key(for: "movie") != nil)
        advisory.revoke("movie")
        #expect(advisory.key(for: "movie") == nil)
        advisory.hold(try key(.lease(.seconds(60))), for: "movie")
        timekeeper.advance(by: .seconds(60))
        #expect(advisory.key(for: "movie") == nil)
        #expect(try exchange("movie", advisory) != nil)
    }

    @Test func `at the limit, a new key replaces the oldest`() throws {
        let advisory = AdvisoryKeys(timekeeper: timekeeper)
        let key = try key(.unlimited)
        for number in 0...AdvisoryKeys.limit { advisory.hold(key, for: ContentIdentifier("key \(number)")) }
        #expect(advisory.key(for: "key 0") == nil)
        #expect(advisory.key(for: "key 1") != nil)
        #expect(advisory.key(for: ContentIdentifier("key \(AdvisoryKeys.limit)")) != nil)
    }
}
