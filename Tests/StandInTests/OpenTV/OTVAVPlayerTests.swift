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
    private func player(_ stream: DemoAsset = .transportStream) -> OTVAVPlayer {
        OTVAVPlayer(url: Studio.playlist(of: stream))
    }

    private func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        let player = player(stream)
        await player.play()
        return try await player.standIn.finished()
    }

    /// Sets up the SDK as an app does.
    private func setUp(_ studio: Studio, _ callback: any OTVCustomerSSMCallback) {
        OTVSDK.load()
        let delegate = OTVCustomerSSMDelegate(certificate: studio.server.certificate)
        delegate.setCallback(callback)
        OTVDRMManager.shared.setLicenseDelegate(delegate)
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose licenses a customer callback gets plays right`(_ stream: DemoAsset) async throws {
        let studio = try Studio()
        try await studio.stage.run {
            setUp(studio, Callback(studio))
            let result = try await play(stream)
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
            let callback = Callback(studio)
            setUp(studio, callback)
            _ = try await play()
            #expect(callback.keySystems.withLock { $0 } == ["94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"])
        }
    }

    @Test func `the period of an enforced session has the license renewed`() async throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(600))))
        try await studio.stage.run {
            let callback = Callback(studio, period: 300)
            setUp(studio, callback)
            let player = player()
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
            setUp(studio, Callback(studio, period: 60, .heartbeat))
            let player = player()
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
            setUp(studio, Callback(studio) { _ in OTVSSMLicenseResponse() })
            await #expect(throws: (any Error).self) { try await play() }
            #expect(told.withLock { $0 } > 0)
            NotificationCenter.default.removeObserver(token)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a license delegate of the app's own is asked in the order of the SDK`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            OTVSDK.load()
            OTVDRMManager.shared.setLicenseDelegate(OwnDelegate(studio))
            let result = try await play()
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
                let result = try await play()
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
                let result = try await play()
                #expect(result.isRight)
                #expect(house.requests.withLock { $0.first?.path } == "/setup")
            }
        }
    }

    @Test func `license and heartbeat can be called alone`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            setUp(studio, Callback(studio))
            let player = player()
            #expect(await player.standIn.license(for: Data([1]), .renewal) == nil)
            await player.standIn.heartbeat()
            #expect(studio.log.contents.count(of: "license") >= 1)
            #expect(studio.log.contents.count(of: "heartbeat") == 1)
        }
    }

    @Test func `a player before the SDK is loaded is noticed`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            OTVDRMManager.shared.setLicenseDelegate(OwnDelegate(studio))
            _ = player()
        }
        #expect(studio.log.brokenRules.contains(.libraryNotLoaded))
    }

    @Test func `a delegate that comes after the player is noticed`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            OTVSDK.load()
            let player = player()
            OTVDRMManager.shared.setLicenseDelegate(OwnDelegate(studio))
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
            setUp(
                studio,
                Callback(studio) { _ in
                    mayReturn.wait()
                    return OTVSSMLicenseResponse()
                })
            let player = player()
            await player.standIn.stage.log.untilViolation(misbehavior == nil ? .blockedCallback : .blockedMainThread)
            mayReturn.signal()
            _ = try? await player.standIn.finished()
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .callsOnMainThread, .repeatsIdentifiers, .switchesToAirPlay,
        .releasesLate,
    ])
    func `a correct callback survives`(_ misbehavior: Misbehavior) async throws {
        let studio = try Studio(misbehavior)
        try await studio.stage.run {
            setUp(studio, Callback(studio))
            let result = try await play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `an SPC comes empty`() async throws {
        let studio = try Studio(.completesWithNothing)
        await studio.stage.run {
            setUp(studio, Callback(studio))
            await #expect(throws: (any Error).self) { try await play() }
        }
        #expect(studio.log.violations.isEmpty)
    }
}

/// A customer callback as an app should have it, unless a test has another answer.
private final class Callback: NSObject, OTVCustomerSSMCallback, Sendable {
    let types = Locked<[OTVLicenseRequestType]>([])
    let keySystems = Locked<[String]>([])
    private let answer: @Sendable (Data) -> OTVSSMLicenseResponse

    init(_ studio: Studio, _ answer: @escaping @Sendable (Data) -> OTVSSMLicenseResponse) { self.answer = answer }

    convenience init(_ studio: Studio, period: Int = 0, _ renewType: OTVLicenseRenewType = .enforced) {
        self.init(studio) { spc in
            OTVSSMLicenseResponse(
                license: try? studio.server.license(for: spc), heartbeat: period, renewType: renewType)
        }
    }

    func license(keySystem: String, payload: Data, licenseType: OTVLicenseRequestType) -> OTVSSMLicenseResponse {
        types.withLock { $0.append(licenseType) }
        keySystems.withLock { $0.append(keySystem) }
        return answer(payload)
    }

    func heartbeat() {}
}

/// A license delegate that an app wrote itself.
private final class OwnDelegate: NSObject, OTVLicenseDelegate, Sendable {
    private let studio: Studio

    init(_ studio: Studio) { self.studio = studio }

    func contentIdentifier(url: URL) -> Data? { Data(url.absoluteString.utf8) }
    func certificate() -> Data? { studio.server.certificate }
    func ckcMessageWithID(spc: Data, assetID: String) -> Data? { try? studio.server.license(for: spc) }
}
