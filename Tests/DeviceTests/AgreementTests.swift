import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@Suite struct AgreementTests {
    /// 10,000 exchanges in four parts that run in parallel. RSA with 2048 bits is slow, so it has only a tenth of them.
    @Test(arguments: [
        (1024, 0, 3_000), (1024, 1, 3_000), (1024, 2, 3_000), (2048, 3, 1_000),
    ])
    func `key server and device agree on random exchanges`(bits: Int, seed: UInt64, count: Int) throws {
        let setting = ExchangeSetting.of(bits: bits)
        var generator = SeededGenerator(seed: seed)
        for number in 0..<count {
            let exchange = RandomExchange(using: &generator)
            try exchange.check(setting, using: &generator, "exchange \(number) of seed \(seed)")
        }
    }
}

/// An exchange with random contents.
private struct RandomExchange {
    let identifier: ContentIdentifier
    let options: SPCOptions
    let key: ContentKey
    let terms: LicenseTerms

    init(using generator: inout SeededGenerator) {
        identifier = ContentIdentifier(bytes: Data(generator.bytes(.random(in: 2...200, using: &generator))))
        options = Self.options(using: &generator)
        key = .random(using: &generator)
        terms = Self.terms(using: &generator)
    }

    func check(_ setting: ExchangeSetting, using generator: inout SeededGenerator, _ name: Comment) throws {
        let exchange = try setting.device.exchange(for: identifier, options: options, using: &generator)
        let context = try setting.module.open(exchange.spc.revealed)
        #expect(context.assetID == identifier, name)
        #expect(context.playback?.state == options.playbackState, name)
        #expect(context.capabilities == options.capabilities ?? [], name)
        #expect(context.destination == options.destination ?? .device, name)
        #expect(context.supportedProtocolVersions == options.protocolVersions, name)
        #expect(context.deviceIdentifier == setting.device.identifier, name)
        let ckc = try setting.module.contentKeyContext(for: context, key: key, terms: terms, using: &generator)
        let opened = try exchange.open(ckc, at: ManualTimekeeper())
        #expect(opened.contentKey == key, name)
        #expect(opened.terms == stated, name)
    }

    /// The terms that reach the device: a lease or rental only if the device stated its playback.
    private var stated: LicenseTerms {
        options.playbackState == nil && !terms.isPersistable ? LicenseTerms(hdcp: terms.hdcp) : terms
    }

    private static func options(using generator: inout SeededGenerator) -> SPCOptions {
        var options = SPCOptions()
        options.playbackState = [nil, .readyToStart, .playing, .leaseExpiring, .stopped].draw(&generator)
        options.protocolVersions = [[1], [1, 2], [3, 2, 1]].draw(&generator)
        options.capabilities = [nil, [], .hdcpEnforcement, [.offlineKey, .secureInvalidation]].draw(&generator)
        options.destination = [nil, .device, .airPlay, .digitalAVAdapter].draw(&generator)
        options.returned = [[], [.transactionID], [.assetID, .assetID], [.r2, .integrity, .returnRequest]].draw(
            &generator)
        options.unknownBlocks = .random(in: 0...27, using: &generator)
        options.returnedUnknownBlocks = .random(in: 0...options.unknownBlocks, using: &generator)
        return options
    }

    private static func terms(using generator: inout SeededGenerator) -> LicenseTerms {
        let one = Duration.seconds(UInt32.random(in: 1...UInt32.max, using: &generator))
        let two = Duration.seconds(UInt32.random(in: 1...100_000, using: &generator))
        let validity: LicenseTerms.Validity = [
            .unlimited, .lease(one), .rental(one), .leaseAndRental(lease: one, rental: two), .persistent,
            .persistentFor(one), .dualExpiry(storage: one, playback: two),
        ].draw(&generator)
        return LicenseTerms(validity, hdcp: [nil, .notRequired, .type0, .type1].draw(&generator))
    }
}

extension Array {
    fileprivate func draw(_ generator: inout SeededGenerator) -> Element {
        self[Int.random(in: 0..<count, using: &generator)]
    }
}
