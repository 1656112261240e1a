import BitmovinPlayer
import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import StandInEngine
import StandInPlayers
import Testing

/// Tests of the stand-in for Bitmovin's player.
@Suite(.timeLimit(.minutes(5))) struct BitmovinPlayerTests {
    private let closures = [
        "prepareContentId", "prepareCertificate", "prepareMessage", "prepareLicenseServerUrl", "prepareLicense",
    ]

    /// A configuration with all closures. Each returns its value unchanged unless a test replaces it.
    private func configuration(_ demo: DemoServer) throws -> FairplayConfig {
        let config = FairplayConfig(
            license: URL(string: demo.license), certificateURL: try #require(URL(string: demo.certificate)))
        config.licenseRequestHeaders = ["X-Token": "t"]
        config.prepareContentId = { $0 }
        config.prepareCertificate = { $0 }
        config.prepareMessage = { spc, _ in spc }
        config.prepareLicenseServerUrl = { $0 }
        config.prepareLicense = { $0 }
        return config
    }

    private func source(_ config: FairplayConfig, _ stream: DemoAsset = .transportStream) -> any Source {
        let source = SourceConfig(url: StandInFixture.playlist(of: stream), type: .hls)
        source.drmConfig = config
        return SourceFactory.create(from: source)
    }

    private func play(_ source: any Source) async throws -> StandInPlayback.Result {
        let player = PlayerFactory.create(playerConfig: PlayerConfig())
        player.load(source: source)
        player.play()
        return try await #require(source.standIn).finished()
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with the closures around the player's HTTP`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let result = try await play(source(configuration(demo), stream))
                #expect(result.isRight)
                await fixture.log.untilCallbacks(Array(closures), times: result.keyURIs.count)
                for closure in closures {
                    #expect(fixture.log.contents.count(of: closure) == result.keyURIs.count)
                }
                let sent = demo.requests.withLock { $0.filter { $0.path == "/license" } }
                #expect(sent.allSatisfy { $0.headers["X-Token"] == "t" })
            }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a license address that stays the key's is unsupported`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let config = FairplayConfig(license: nil, certificateURL: try #require(URL(string: demo.certificate)))
                let error = await #expect(throws: NSError.self) { try await play(source(config)) }
                #expect(error?.code == 2306)
                #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSURLErrorUnsupportedURL)
            }
        }
    }

    @Test func `empty data from the last closure is a failure`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let config = try configuration(demo)
                config.prepareLicense = { _ in Data() }
                let listener = Listener()
                let source = source(config)
                source.add(listener: listener)
                let error = await #expect(throws: NSError.self) { try await play(source) }
                #expect(error?.code == 2303)
                await fixture.log.untilCallback("onSourceError")
                #expect(listener.codes.withLock { $0 } == [2303])
            }
        }
    }

    @Test func `a status is told by a number`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            demo.refuseLicenses(with: 403)
            try await fixture.stage.run {
                let config = try configuration(demo)
                let error = await #expect(throws: NSError.self) { try await play(source(config)) }
                #expect(error?.code == 2306)
            }
        }
    }

    @Test func `a license is renewed with the request of its event`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let listener = Listener()
                let source = source(try configuration(demo))
                source.add(listener: listener)
                _ = try await play(source)
                await fixture.log.untilCallback("onFairplayLicenseAcquired")
                let request = try #require(listener.requests.withLock { $0.first })
                #expect(request.skdUri == "skd://demo/video")
                source.drm.fairplay.renewExpiringLicense(for: request)
                await fixture.log.untilCallback("onFairplayLicenseAcquired", times: 2)
                #expect(Set(demo.licenseBodies).count == 2)
            }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a renewal of a key that is not held is noticed`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let first = source(try configuration(demo))
                let listener = Listener()
                first.add(listener: listener)
                _ = try await play(first)
                await fixture.log.untilCallback("onFairplayLicenseAcquired")
                let request = try #require(listener.requests.withLock { $0.first })
                source(try configuration(demo)).drm.fairplay.renewExpiringLicense(for: request)
            }
        }
        #expect(fixture.log.brokenRules == [.renewedWithoutKey])
    }

    @Test func `a closure that does not return is noticed`() async throws {
        let fixture = try StandInFixture(callbackLimit: .milliseconds(1))
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let mayReturn = DispatchSemaphore(value: 0)
                let config = try configuration(demo)
                config.prepareContentId = {
                    mayReturn.wait()
                    return $0
                }
                let source = source(config)
                let player = PlayerFactory.create()
                player.load(source: source)
                await fixture.log.untilViolation(.blockedCallback)
                mayReturn.signal()
                player.destroy()
                _ = try? await source.standIn?.finished()
            }
        }
    }

    @Test func `each closure can be called alone`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let standIn = try #require(source(try configuration(demo)).standIn)
                let identifier = try await standIn.contentIdentifier(for: "skd://a")
                #expect(identifier == "skd://a")
                let certificate = try await standIn.certificate()
                #expect(certificate == fixture.server.certificate)
                await #expect(throws: KeyFailure.self) {
                    try await standIn.license(for: Data([1]), "skd://a", assetID: "a")
                }
                await fixture.log.untilCallbacks(Array(closures.dropLast()))
                #expect(fixture.log.names == Array(closures.dropLast()))
            }
        }
    }

    @Test(arguments: [
        Misbehavior.callsOnOddThreads, .callsOnMainThread, .repeatsIdentifiers, .reordersKeys, .switchesToAirPlay,
    ])
    func `correct closures survive`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let result = try await play(source(configuration(demo), .twoKeys))
                #expect(result.isRight)
            }
        }
        #expect(fixture.log.violations.isEmpty)
    }
}

private final class Listener: NSObject, SourceListener, Sendable {
    let requests = Locked<[FairplayContentKeyRequest]>([])
    let codes = Locked<[Int]>([])

    func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
        requests.withLock { $0.append(event.contentKeyRequest) }
    }

    func onSourceError(_ event: SourceErrorEvent, source: any Source) { codes.withLock { $0.append(event.code) } }
}
