import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite struct KeyServerModuleTests {
    @Test(arguments: [1024, 2048])
    func `an SPC of either key size opens and states its facts`(bits: Int) throws {
        let forge = SPCForge(bits == 1024 ? SPCForge.small : SPCForge.large)
        let context = try forge.module.open(forge.spc())
        #expect(context.containerVersion == (bits == 1024 ? 1 : 2))
        #expect(context.credentialIndex == 1)
        #expect(context.assetID == "asset")
        #expect(context.transactionID.description == "0102030405060708")
        #expect(context.deviceIdentifier == Secret(SPCForge.deviceIdentifier))
        #expect(context.playback?.state == .readyToStart)
        #expect(context.playback?.session.description == "0102030405060708")
        #expect(context.playback?.created == Date(timeIntervalSince1970: 0x6955_b900))
        #expect(context.capabilities == [.hdcpEnforcement, .secureInvalidation])
        #expect(context.destination == .airPlay)
        #expect(context.protocolVersion == 1)
        #expect(context.supportedProtocolVersions == [1, 2])
        #expect(context.requestedTags == [.integrity, TLLVTag(rawValue: 0xfeed)])
        #expect(context.blocks.count == 13)
    }
}
