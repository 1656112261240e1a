import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import LatchkeyTesting
import OPYSDKFPS
import StandInEngine
import Testing

/// What stands in for NAGRA's CONNECT player.
@Suite struct OTVAVPlayerTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream whose licenses a customer callback gets plays right`(_ stream: DemoAsset) async throws {
        let studio = try Studio()
        try await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio))
            let result = try await OTVApp.play(stream)
            #expect(result.isRight)
            let calls = studio.log.callbacks.filter { $0.name == "license" }
            #expect(calls.count == result.keyURIs.count)
            #expect(calls.allSatisfy { $0.place == "com.nagra.opentv.worker" && $0.implementation == .own })
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `the callback hears of FairPlay by its identifier`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let callback = CustomerCallback(studio)
            OTVApp.setUp(studio, callback)
            _ = try await OTVApp.play()
            #expect(callback.keySystems.withLock { $0 } == ["94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"])
        }
    }

    @Test func `the period of an enforced session has the license renewed`() async throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(600))))
        try await studio.stage.run {
            let callback = CustomerCallback(studio, period: 300)
            OTVApp.setUp(studio, callback)
            let player = OTVApp.player()
            await player.play()
            _ = try await player.standIn.finished()
            for _ in 0..<3 {
                await studio.time.untilSomeoneSleeps(for: .seconds(300))
                studio.time.advance(by: .seconds(300))
                await studio.log.untilCallback("didSucceed", times: callback.types.withLock { $0.count })
            }
            await studio.time.untilSomeoneSleeps(for: .seconds(300))
            #expect(callback.types.withLock { $0 } == [.request, .renewal, .renewal, .renewal])
            #expect(player.standIn.session.usableKeys == ["skd://demo/video"])
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `the period of a heartbeat session has the heartbeat called`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio, period: 60, .heartbeat))
            let player = OTVApp.player()
            await player.play()
            _ = try await player.standIn.finished()
            for times in 1...3 {
                await studio.time.untilSomeoneSleeps(for: .seconds(60))
                studio.time.advance(by: .seconds(60))
                await studio.log.untilCallback("heartbeat", times: times)
            }
            await player.replaceCurrentItem(with: nil)
            #expect(studio.log.contents.count(of: "license") == 1)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `no license ends playback, and a notification tells of it`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let told = Locked(0)
            let token = NotificationCenter.default.addObserver(
                forName: .OTVDRMLicenseError, object: nil, queue: nil
            ) { _ in told.withLock { $0 += 1 } }
            OTVApp.setUp(studio, CustomerCallback(studio) { _ in OTVSSMLicenseResponse() })
            await #expect(throws: (any Error).self) { try await OTVApp.play() }
            #expect(told.withLock { $0 } > 0)
            NotificationCenter.default.removeObserver(token)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a license delegate of the app's own is asked in the order of the SDK`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            OTVSDK.load()
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(studio))
            let result = try await OTVApp.play()
            #expect(result.isRight)
            let calls = studio.log.callbacks.filter { $0.place == "com.nagra.opentv.worker" }
            #expect(calls.map(\.name) == ["contentIdentifier", "certificate", "ckcMessageWith", "ckcMessageWithID"])
            #expect(calls.map(\.implementation) == [.own, .own, .standard, .own])
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `the SDK's own delegate gets licenses over HTTP`() async throws {
        let studio = try Studio()
        try await KeyHouse.open(studio.server) { house in
            try await studio.stage.run {
                OTVSDK.load()
                let delegate = OTVDefaultLicenseDelegate(
                    certificateURL: try #require(URL(string: house.certificate)),
                    licenseURL: try #require(URL(string: house.license)))
                delegate.setHTTPHeader(parameters: ["nv-authorizations": "t"])
                OTVDRMManager.shared.setLicenseDelegate(delegate)
                let result = try await OTVApp.play()
                #expect(result.isRight)
                let headers = house.requests.withLock { $0.last?.headers }
                #expect(headers?["nv-authorizations"] == "t")
            }
        }
    }

    @Test func `a session of the SDK's own is set up before its licenses`() async throws {
        let studio = try Studio()
        try await KeyHouse.open(studio.server) { house in
            try await studio.stage.run {
                OTVSDK.load()
                let delegate = OTVSSPLicenseDelegateV2(
                    certificateURL: try #require(URL(string: house.certificate)),
                    licenseURL: try #require(URL(string: house.license)),
                    ssmServerURL: try #require(URL(string: house.address)))
                try await withCheckedThrowingContinuation { continuation in
                    delegate.setStream(token: "t") {
                        continuation.resume()
                    } failure: {
                        continuation.resume(throwing: $0)
                    }
                }
                OTVDRMManager.shared.setLicenseDelegate(delegate)
                let result = try await OTVApp.play()
                #expect(result.isRight)
                #expect(house.requests.withLock { $0.first?.path } == "/setup")
            }
        }
    }

    @Test func `license and heartbeat can be called alone`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio))
            let player = OTVApp.player()
            #expect(await player.standIn.license(for: Data([1]), .renewal) == nil)
            await player.standIn.heartbeat()
            #expect(studio.log.contents.count(of: "license") >= 1)
            #expect(studio.log.contents.count(of: "heartbeat") == 1)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .callsOnMainThread, .repeatsIdentifiers, .switchesToAirPlay,
        .releasesLate,
    ])
    func `a correct callback survives`(_ misbehavior: Misbehavior) async throws {
        let studio = try Studio(misbehavior)
        try await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio))
            let result = try await OTVApp.play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a request that is cancelled midway is not answered`() async throws {
        let studio = try Studio(.cancelsMidway)
        await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio))
            // The license may still come before the cancellation is told, and then the stream plays.
            _ = try? await OTVApp.play()
            await studio.log.until { $0.count(of: "didFail") + $0.count(of: "didSucceed") == 1 }
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test(arguments: [Misbehavior.completesWithNothing, .resetsMediaServices])
    func `playback ends with an error`(_ misbehavior: Misbehavior) async throws {
        let studio = try Studio(misbehavior)
        await studio.stage.run {
            OTVApp.setUp(studio, CustomerCallback(studio))
            await #expect(throws: (any Error).self) { try await OTVApp.play() }
        }
        #expect(studio.log.violations.isEmpty)
    }
}
