import LatchkeyCore
import LatchkeyDevice
import LatchkeyTesting
import Testing

@testable import LatchkeyFairPlay

@Suite struct SPCOptionsTests {
    @Test func `a renewal states that playback continues and the lease is ending`() throws {
        let session = PlaybackSessionID(rawValue: 42)
        let context = try opened(.renewing(in: session))
        #expect(context.playback?.state == .leaseExpiring)
        #expect(context.playback?.session == session)
    }

    @Test func `a request for a key to store says that the device can`() throws {
        let context = try opened(.storing)
        #expect(context.capabilities.contains(.offlineKey))
        #expect(context.playback?.state == .readyToStart)
        #expect(context.payload.blocks.value(.offlineSync).map { Array($0) } == [UInt8](repeating: 0, count: 28))
    }

    @Test func `a request to play omits storing`() throws {
        let context = try opened(SPCOptions())
        #expect(!context.capabilities.contains(.offlineKey))
        #expect(context.payload.blocks.value(.offlineSync) == nil)
    }

    private func opened(_ options: SPCOptions) throws -> ServerPlaybackContext {
        let setting = ExchangeSetting.small
        var generator = SeededGenerator(seed: 1)
        let exchange = try setting.device.exchange(for: "asset", options: options, using: &generator)
        return try setting.module.open(exchange.spc.revealed)
    }
}
