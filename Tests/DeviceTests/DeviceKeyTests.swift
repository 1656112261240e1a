import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDevice

@Suite struct DeviceKeyTests {
    private let timekeeper = ManualTimekeeper()

    @Test(
        arguments: [
            (.unlimited, 1_000_000, true, true), (.persistent, 1_000_000, true, true),
            (.lease(.seconds(60)), 59, true, true), (.lease(.seconds(60)), 60, false, false),
            (.rental(.seconds(60)), 59, true, true), (.rental(.seconds(60)), 60, false, true),
            (.leaseAndRental(lease: .seconds(90), rental: .seconds(60)), 59, true, true),
            (.leaseAndRental(lease: .seconds(90), rental: .seconds(60)), 60, false, true),
            (.leaseAndRental(lease: .seconds(90), rental: .seconds(60)), 90, false, false),
            (.persistentFor(.seconds(60)), 60, false, true),
            (.dualExpiry(storage: .seconds(600), playback: .seconds(60)), 59, true, true),
            (.dualExpiry(storage: .seconds(600), playback: .seconds(60)), 60, false, false),
        ] as [(LicenseTerms.Validity, Int, Bool, Bool)])
    func `a key that plays ends by its terms`(
        validity: LicenseTerms.Validity, seconds: Int, canStart: Bool, canDecrypt: Bool
    ) {
        var key = key(validity)
        let isStarted = key.start(at: timekeeper)
        timekeeper.advance(by: .seconds(seconds))
        #expect(isStarted)
        #expect(key.canStart(at: timekeeper) == canStart)
        #expect(key.canDecrypt(at: timekeeper) == canDecrypt)
    }

    @Test(
        arguments: [
            (.rental(.seconds(60)), 59, true), (.rental(.seconds(60)), 60, false),
            (.persistentFor(.seconds(60)), 60, false),
            (.dualExpiry(storage: .seconds(600), playback: .seconds(60)), 599, true),
            (.dualExpiry(storage: .seconds(600), playback: .seconds(60)), 600, false),
        ] as [(LicenseTerms.Validity, Int, Bool)])
    func `an unused key expires when playback may no longer start`(
        validity: LicenseTerms.Validity, seconds: Int, isGood: Bool
    ) {
        var key = key(validity)
        timekeeper.advance(by: .seconds(seconds))
        #expect(key.canDecrypt(at: timekeeper) == isGood)
        let isStarted = key.start(at: timekeeper)
        #expect(isStarted == isGood)
        #expect((key.startedAt != nil) == isGood)
    }

    @Test func `only the first start of a stored key counts`() {
        var key = key(.dualExpiry(storage: .seconds(600), playback: .seconds(60)))
        _ = key.start(at: timekeeper)
        timekeeper.advance(by: .seconds(50))
        _ = key.start(at: timekeeper)
        timekeeper.advance(by: .seconds(10))
        #expect(!key.canDecrypt(at: timekeeper))
    }

    @Test func `setting the date back does not prolong a lease`() {
        let key = key(.lease(.seconds(60)))
        timekeeper.advance(by: .seconds(60))
        timekeeper.setDate(timekeeper.date.addingTimeInterval(-3_600))
        #expect(!key.canDecrypt(at: timekeeper))
    }

    @Test func `a renewal's key lives from its own arrival`() throws {
        let setting = ExchangeSetting.small
        var generator = SeededGenerator(seed: 4)
        let content = ContentKey.random(using: &generator)
        var options = SPCOptions()
        var keys: [DeviceKey] = []
        for state in [PlaybackState.readyToStart, .leaseExpiring] {
            options.playbackState = state
            let exchange = try setting.device.exchange(for: "asset", options: options, using: &generator)
            let ckc = try setting.module.answer(exchange, with: content, LicenseTerms(.lease(.seconds(60))))
            keys.append(try exchange.open(ckc, at: timekeeper))
            timekeeper.advance(by: .seconds(45))
        }
        #expect(keys.map { $0.canDecrypt(at: timekeeper) } == [false, true])
        #expect(keys[0].contentKey == keys[1].contentKey)
    }

    @Test func `a chain of renewals decrypts without a gap, and no key beyond its own lease`() throws {
        var keys: [DeviceKey] = []
        for _ in 0..<5 {
            keys.append(try received(.renewing(), LicenseTerms(.lease(.seconds(60)))))
            timekeeper.advance(by: .seconds(40))
        }
        // At 200 s, the keys are from 0, 40, 80, 120 and 160 s.
        #expect(keys.map { $0.canDecrypt(at: timekeeper) } == [false, false, false, false, true])
        timekeeper.advance(by: .seconds(20))
        #expect(keys.allSatisfy { !$0.canDecrypt(at: timekeeper) })
    }

    @Test func `the lease of a key that plays ends, however the date jumps`() throws {
        var key = try received(SPCOptions(), LicenseTerms(.lease(.seconds(60))))
        let isStarted = key.start(at: timekeeper)
        #expect(isStarted)
        timekeeper.setDate(timekeeper.date + 86_400)
        #expect(key.canDecrypt(at: timekeeper))
        timekeeper.setDate(timekeeper.date - 2 * 86_400)
        timekeeper.advance(by: .seconds(60))
        #expect(!key.canDecrypt(at: timekeeper))
    }

    @Test func `terms without a lease have no lease`() throws {
        var options = SPCOptions()
        options.playbackState = nil
        let key = try received(options, LicenseTerms(.lease(.seconds(60))))
        timekeeper.advance(by: .seconds(60))
        #expect(key.canDecrypt(at: timekeeper))
    }

    private func received(_ options: SPCOptions, _ terms: LicenseTerms) throws -> DeviceKey {
        let setting = ExchangeSetting.small
        var generator = SystemRandomNumberGenerator()
        let exchange = try setting.device.exchange(for: "asset", options: options, using: &generator)
        let ckc = try setting.module.answer(exchange, with: .random(using: &generator), terms)
        return try exchange.open(ckc, at: timekeeper)
    }

    private func key(_ validity: LicenseTerms.Validity) -> DeviceKey {
        var generator = SeededGenerator(seed: 1)
        return DeviceKey(
            contentKey: .random(using: &generator), terms: LicenseTerms(validity), acceptedAt: DeviceTime(timekeeper))
    }
}
