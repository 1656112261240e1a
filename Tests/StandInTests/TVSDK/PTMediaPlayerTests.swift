import Foundation
import LatchkeyCore
import LatchkeySimulation
import PSDKLibrary
import StandInEngine
import Testing

/// Tests of the stand-in for Adobe's TVSDK.
@Suite(.timeLimit(.minutes(5))) struct PTMediaPlayerTests {
    private func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        let item = PTMediaPlayerItem(url: StandInFixture.playlist(of: stream), mediaId: "demo", metadata: PTMetadata())
        let player = try #require(PTMediaPlayer(mediaPlayerItem: item))
        player.play()
        return try await player.standIn.finished()
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from the registered loader plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(fixture))
            let result = try await play(stream)
            #expect(result.isRight)
            await fixture.log.untilCallbacks(["resourceLoader"], times: result.keyURIs.count)
            #expect(fixture.log.contents.count(of: "resourceLoader") == result.keyURIs.count)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `one loader serves player after player`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(fixture))
            for stream in DemoAsset.allCases {
                let result = try await play(stream)
                #expect(result.isRight)
            }
        }
    }

    @Test func `a loader that comes after the item is noticed`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let item = PTMediaPlayerItem(
                url: StandInFixture.playlist(of: .transportStream), mediaId: "demo", metadata: PTMetadata())
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(fixture))
            withExtendedLifetime(item) {}
        }
        #expect(fixture.log.brokenRules == [.delegateSetLate])
    }

    @Test func `without a loader nothing plays`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            _ = await #expect(throws: (any Error).self) { try await play() }
        }
    }

    @Test func `a second end of a request is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let loader = Loader(fixture) { request in
                try Loader.answer(request, fixture)
                request.finishLoading()
            }
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(loader)
            _ = try await play()
        }
        await fixture.log.untilViolation(.finishedTwice)
        #expect(fixture.log.brokenRules == [.finishedTwice])
    }

    @Test func `a request that nobody retains counts as unanswered`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(fixture) { _ in })
            await #expect(throws: (any Error).self) { try await play() }
        }
        #expect(fixture.log.brokenRules == [.unanswered])
    }

    @Test func `the loader's error is the player's`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let loader = Loader(fixture) { $0.finishLoading(with: NSError(domain: "app", code: 7)) }
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(loader)
            let error = await #expect(throws: NSError.self) { try await play() }
            #expect(error?.code == 7)
        }
    }

    @Test(arguments: [Misbehavior.callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate])
    func `a correct loader survives`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        try await fixture.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(fixture))
            let result = try await play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(fixture.log.violations.isEmpty)
    }
}

/// A correct loader. A test can replace its answer.
private final class Loader: NSObject, PTAVAssetResourceLoaderDelegate, Sendable {
    typealias Script = @Sendable (AVAssetResourceLoadingRequest) throws -> Void

    private let script: Script

    init(_ fixture: StandInFixture, _ script: Script? = nil) {
        self.script =
            script ?? { request in
                let box = Kept(request: request)
                Task { try Self.answer(box.request, fixture) }
            }
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader!,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
    ) -> Bool {
        guard let loadingRequest, loadingRequest.request.url?.scheme == "skd" else { return false }
        return (try? script(loadingRequest)) != nil
    }

    static func answer(_ request: AVAssetResourceLoadingRequest, _ fixture: StandInFixture) throws {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: fixture.server.certificate, contentIdentifier: Data(name.utf8))
        request.dataRequest?.respond(with: try fixture.server.license(for: spc))
        request.finishLoading()
    }
}

// Sound: only one task has it at a time.
private struct Kept: @unchecked Sendable {
    let request: AVAssetResourceLoadingRequest
}
