import Foundation
import LatchkeyCore
import OPYSDKFPS
import StandInEngine
import Testing

/// Each rule of NAGRA's CONNECT player, violated once.
@Suite(.timeLimit(.minutes(5))) struct OTVRuleTests {
    @Test func `a player before the SDK is loaded is noticed`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(fixture))
            _ = OTVApp.player()
        }
        #expect(fixture.log.brokenRules.contains(.libraryNotLoaded))
    }

    @Test func `a delegate that comes after the player is noticed`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            OTVSDK.load()
            let player = OTVApp.player()
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(fixture))
            withExtendedLifetime(player) {}
        }
        #expect(fixture.log.brokenRules.contains(.delegateSetLate))
    }

    @Test(arguments: [nil, Misbehavior.callsOnMainThread])
    func `a license without a deadline is noticed`(_ misbehavior: Misbehavior?) async throws {
        let behavior = StandInBehavior(misbehavior.map { [$0] } ?? [])
        let fixture = try StandInFixture(behavior, callbackLimit: .milliseconds(1))
        await fixture.stage.run {
            let mayReturn = DispatchSemaphore(value: 0)
            OTVApp.setUp(
                fixture,
                CustomerCallback(fixture) { _ in
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
