import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import LatchkeyTesting
import OPYSDKFPS
import StandInEngine
import Testing

/// Tests of the stand-in for NAGRA's CONNECT player.
@Suite(.timeLimit(.minutes(5))) struct OTVAVPlayerTests {
    @Test func `FairPlay's identifier reaches the callback`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let callback = CustomerCallback(fixture)
            OTVApp.setUp(fixture, callback)
            _ = try await OTVApp.play()
            #expect(callback.keySystems.withLock { $0 } == ["94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"])
        }
    }

    @Test func `a missing license ends playback and posts a notification`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let told = Locked(0)
            let token = NotificationCenter.default.addObserver(
                forName: .OTVDRMLicenseError, object: nil, queue: nil
            ) { _ in told.withLock { $0 += 1 } }
            OTVApp.setUp(fixture, CustomerCallback(fixture) { _ in OTVSSMLicenseResponse() })
            await #expect(throws: (any Error).self) { try await OTVApp.play() }
            #expect(told.withLock { $0 } > 0)
            NotificationCenter.default.removeObserver(token)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `an app's license delegate is called in the SDK's order`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            OTVSDK.load()
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(fixture))
            let result = try await OTVApp.play()
            #expect(result.isRight)
            let calls = fixture.log.callbacks.filter { $0.place == "com.nagra.opentv.worker" }
            #expect(calls.map(\.name) == ["contentIdentifier", "certificate", "ckcMessageWith", "ckcMessageWithID"])
            #expect(calls.map(\.implementation) == [.own, .own, .standard, .own])
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `the SDK's own delegate gets licenses over HTTP`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                OTVSDK.load()
                let delegate = OTVDefaultLicenseDelegate(
                    certificateURL: try #require(URL(string: demo.certificate)),
                    licenseURL: try #require(URL(string: demo.license)))
                delegate.setHTTPHeader(parameters: ["nv-authorizations": "t"])
                OTVDRMManager.shared.setLicenseDelegate(delegate)
                let result = try await OTVApp.play()
                #expect(result.isRight)
                let headers = demo.requests.withLock { $0.last?.headers }
                #expect(headers?["nv-authorizations"] == "t")
            }
        }
    }

    @Test func `an SDK session is set up before its licenses`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                OTVSDK.load()
                let delegate = OTVSSPLicenseDelegateV2(
                    certificateURL: try #require(URL(string: demo.certificate)),
                    licenseURL: try #require(URL(string: demo.license)),
                    ssmServerURL: try #require(URL(string: demo.address)))
                let isSetUp = await withCheckedContinuation { continuation in
                    delegate.setStream(token: "t", with: StandInFixture.playlist(of: .transportStream)) {
                        continuation.resume(returning: true)
                    } failure: {
                        continuation.resume(returning: false)
                    }
                }
                #expect(isSetUp)
                OTVDRMManager.shared.setLicenseDelegate(delegate)
                let result = try await OTVApp.play()
                #expect(result.isRight)
                #expect(demo.requests.withLock { $0.first?.path } == "/setup")
            }
        }
    }

    @Test func `license and heartbeat can be called alone`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture))
            let player = OTVApp.player()
            #expect(await player.standIn.license(for: Data([1]), .renewal) == nil)
            await player.standIn.heartbeat()
            #expect(fixture.log.contents.count(of: "license") >= 1)
            await fixture.log.untilCallback("heartbeat", times: 1)
            #expect(fixture.log.contents.count(of: "heartbeat") == 1)
        }
    }

    @Test(arguments: [Misbehavior.completesWithNothing, .resetsMediaServices])
    func `playback ends with an error`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture))
            await #expect(throws: (any Error).self) { try await OTVApp.play() }
        }
        #expect(fixture.log.violations.isEmpty)
    }
}
