import Foundation
import LatchkeyCore
import OPYSDKFPS
import StandInEngine
import Testing

/// Each rule of NAGRA's CONNECT player, broken once.
@Suite struct OTVRuleTests {
    @Test func `a player before the SDK is loaded is noticed`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(studio))
            _ = OTVApp.player()
        }
        #expect(studio.log.brokenRules.contains(.libraryNotLoaded))
    }

    @Test func `a delegate that comes after the player is noticed`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            OTVSDK.load()
            let player = OTVApp.player()
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(studio))
            withExtendedLifetime(player) {}
        }
        #expect(studio.log.brokenRules.contains(.delegateSetLate))
    }

    @Test(arguments: [nil, Misbehavior.callsOnMainThread])
    func `a license without a deadline is noticed`(_ misbehavior: Misbehavior?) async throws {
        let behavior = StandInBehavior(misbehavior.map { [$0] } ?? [])
        let studio = try Studio(behavior, callbackLimit: .milliseconds(1))
        await studio.stage.run {
            let mayReturn = DispatchSemaphore(value: 0)
            OTVApp.setUp(
                studio,
                CustomerCallback(studio) { _ in
                    mayReturn.wait()
                    return OTVSSMLicenseResponse()
                })
            let player = OTVApp.player()
            await player.standIn.stage.log.untilViolation(misbehavior == nil ? .blockedCallback : .blockedMainThread)
            mayReturn.signal()
            _ = try? await player.standIn.finished()
        }
    }
}
