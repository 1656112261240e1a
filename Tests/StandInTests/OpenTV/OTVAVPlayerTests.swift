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
    @Test(arguments: DemoAsset.allCases)
    func `a stream whose licenses a customer callback gets plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture))
            let result = try await OTVApp.play(stream)
            #expect(result.isRight)
            let calls = fixture.log.callbacks.filter { $0.name == "license" }
            #expect(calls.count == result.keyURIs.count)
            #expect(calls.allSatisfy { $0.place == "com.nagra.opentv.worker" && $0.implementation == .own })
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `the callback hears of FairPlay by its identifier`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let callback = CustomerCallback(fixture)
            OTVApp.setUp(fixture, callback)
            _ = try await OTVApp.play()
            #expect(callback.keySystems.withLock { $0 } == ["94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"])
        }
    }

    @Test func `the period of an enforced session has the license renewed`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let callback = CustomerCallback(fixture, period: 300)
            OTVApp.setUp(fixture, callback)
            let player = OTVApp.player()
            await player.play()
            _ = try await player.standIn.finished()
            for _ in 0..<3 {
                await fixture.time.untilSomeoneSleeps(for: .seconds(300))
                fixture.time.advance(by: .seconds(300))
                await fixture.log.untilCallback("didSucceed", times: callback.types.withLock { $0.count })
            }
            await fixture.time.untilSomeoneSleeps(for: .seconds(300))
            #expect(
                callback.types.withLock { $0 }
                    == [OTVLicenseRequestType.request, .renewal, .renewal, .renewal].map(\.rawValue))
            #expect(player.standIn.session.usableKeys == ["skd://demo/video"])
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `the period of a heartbeat session has the heartbeat called`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture, period: 60, .heartbeat))
            let player = OTVApp.player()
            await player.play()
            _ = try await player.standIn.finished()
            for times in 1...3 {
                await fixture.time.untilSomeoneSleeps(for: .seconds(60))
                fixture.time.advance(by: .seconds(60))
                await fixture.log.untilCallback("heartbeat", times: times)
            }
            await player.replaceCurrentItem(with: nil)
            #expect(fixture.log.contents.count(of: "license") == 1)
        }
        #expect(fixture.log.violations.isEmpty)
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

    @Test func `a license delegate of the app's own is asked in the order of the SDK`() async throws {
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

    @Test func `a session of the SDK's own is set up before its licenses`() async throws {
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

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .callsOnMainThread, .repeatsIdentifiers, .switchesToAirPlay,
        .releasesLate,
    ])
    func `a correct callback survives`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        try await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture))
            let result = try await OTVApp.play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a request that is cancelled midway is not answered`() async throws {
        let fixture = try StandInFixture(.cancelsMidway)
        await fixture.stage.run {
            OTVApp.setUp(fixture, CustomerCallback(fixture))
            // The license may arrive before the cancellation is reported, and then the stream plays.
            _ = try? await OTVApp.play()
            await fixture.log.until { $0.count(of: "didFail") + $0.count(of: "didSucceed") == 1 }
        }
        #expect(fixture.log.violations.isEmpty)
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
