import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

/// Tests of the stand-in for THEOplayer, with a correct integration.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerTests {
    private let requestHooks = ["onExtractFairplayContentId", "onCertificateRequest", "onLicenseRequest"]
    private let responseHooks = ["onCertificateResponse", "onLicenseResponse"]

    @Test func `an answer from a request hook skips HTTP and the response hook`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let player = THEOplayer.playing(.transportStream, TestIntegration(fixture.server))
            let result = try await player.standIn.finished()
            #expect(result.isRight)
        }
        await fixture.log.untilCallbacks(requestHooks)
        #expect(fixture.log.names == requestHooks)
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `hooks that an integration lacks are the player's own`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let configuration = FairPlayDRMConfiguration(
                    customIntegrationId: "test", licenseAcquisitionURL: demo.license,
                    certificateURL: demo.certificate, headers: [["X-Token": "t"]])
                let player = THEOplayer.playing(.transportStream, EmptyIntegration(), configuration: configuration)
                let result = try await player.standIn.finished()
                #expect(result.isRight)
                #expect(demo.requests.withLock { $0.allSatisfy { $0.headers["X-Token"] == "t" } })
            }
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.implementation == .standard })
        await fixture.log.untilCallbacks(requestHooks + responseHooks)
        #expect(Set(fixture.log.names) == Set(requestHooks + responseHooks))
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a lease is renewed through the license hooks, with a new SPC`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let spcs = Locked<Set<Data>>([])
            let integration = TestIntegration(fixture.server) { script in
                let licenseRequest = script.licenseRequest
                script.licenseRequest = { request, callback in
                    spcs.withLock { _ = $0.insert(request.body ?? Data()) }
                    licenseRequest(request, callback)
                }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            _ = try await player.standIn.finished()
            await fixture.time.untilSomeoneSleeps(for: .seconds(450))
            fixture.time.advance(by: .seconds(450))
            await fixture.log.untilCallback("onLicenseRequest", times: 2)
            await fixture.time.untilSomeoneSleeps(for: .seconds(450))
            fixture.time.advance(by: .seconds(300))
            #expect(player.standIn.playback?.usableKeys == ["skd://demo/video"])
            #expect(spcs.withLock { $0.count } == 2)
            await fixture.log.untilCallback("onCertificateRequest", times: 1)
            #expect(fixture.log.contents.count(of: "onCertificateRequest") == 1)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `another source ends the previous one, and late answers do no harm`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let held = Locked<[@Sendable () -> Void]>([])
            let integration = TestIntegration(fixture.server) { script in
                let licenseRequest = script.licenseRequest
                script.licenseRequest = { request, callback in
                    // Sound: a callback may be used on any thread.
                    nonisolated(unsafe) let (request, callback) = (request, callback)
                    let isFirst = held.withLock { held in
                        defer { held.append { licenseRequest(request, callback) } }
                        return held.isEmpty
                    }
                    if !isFirst { licenseRequest(request, callback) }
                }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            let first = player.standIn
            await fixture.log.untilCallback("onLicenseRequest")
            player.load(.rotation)
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight)
            await #expect(throws: (any Error).self) { try await first.finished() }
            held.withLock { $0.first }?()
            player.destroy()
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test(arguments: [Misbehavior.cancelsMidway, .completesWithNothing, .resetsMediaServices])
    func `playback ends with an error`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        await fixture.stage.run {
            let player = THEOplayer.playing(.transportStream, TestIntegration(fixture.server))
            let error = await #expect(throws: (any Error).self) { try await player.standIn.finished() }
            #expect(error is any ContentProtectionError)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a configuration survives coding`() throws {
        let configuration = FairPlayDRMConfiguration(
            customIntegrationId: "x", licenseAcquisitionURL: "https://a.example/l", headers: [["a": "b"]],
            licenseType: .persistent, integrationParameters: ["token": "t", "n": 1], queryParameters: ["q": "1"])
        let copy = try JSONDecoder().decode(
            FairPlayDRMConfiguration.self, from: JSONEncoder().encode(configuration))
        #expect(copy.customIntegrationId == "x" && copy.queryParameters == ["q": "1"])
        #expect(copy.integrationParameters?["token"] as? String == "t")
        #expect(copy.fairplay.licenseAcquisitionURL?.host == "a.example" && copy.fairplay.licenseType == .persistent)
        let request = LicenseRequest(
            url: "u", method: "POST", headers: [:], body: nil, fairplaySkdUrl: "skd://a", useCredentials: false)
        let decoded = try JSONDecoder().decode(LicenseRequest.self, from: JSONEncoder().encode(request))
        #expect(decoded.fairplaySkdUrl == "skd://a" && decoded.url == "u")
    }
}

private final class EmptyIntegration: ContentProtectionIntegration {}
