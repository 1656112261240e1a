import Foundation
import LatchkeyCore
import LatchkeySimulation
import PSDKLibrary
import StandInEngine
import Testing

/// What stands in for Adobe's TVSDK.
@Suite struct PTMediaPlayerTests {
    private func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        let item = PTMediaPlayerItem(url: Studio.playlist(of: stream), mediaId: "demo", metadata: PTMetadata())
        let player = try #require(PTMediaPlayer(mediaPlayerItem: item))
        player.play()
        return try await player.standIn.finished()
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from the registered loader plays right`(_ stream: DemoAsset) async throws {
        let studio = try Studio()
        try await studio.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(studio))
            let result = try await play(stream)
            #expect(result.isRight)
            #expect(studio.log.contents.count(of: "resourceLoader") == result.keyURIs.count)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `one loader serves player after player`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(studio))
            for stream in DemoAsset.allCases {
                let result = try await play(stream)
                #expect(result.isRight)
            }
        }
    }

    @Test func `a loader that comes after the item is noticed`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let item = PTMediaPlayerItem(
                url: Studio.playlist(of: .transportStream), mediaId: "demo", metadata: PTMetadata())
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(studio))
            withExtendedLifetime(item) {}
        }
        #expect(studio.log.brokenRules == [.delegateSetLate])
    }

    @Test func `without a loader nothing plays`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            _ = await #expect(throws: (any Error).self) { try await play() }
        }
    }

    @Test func `a second end of a request is noticed`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let loader = Loader(studio) { request in
                try Loader.answer(request, studio)
                request.finishLoading()
            }
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(loader)
            _ = try await play()
        }
        #expect(studio.log.brokenRules == [.finishedTwice])
    }

    @Test func `a request that nobody keeps is unanswered`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(studio) { _ in })
            await #expect(throws: (any Error).self) { try await play() }
        }
        #expect(studio.log.brokenRules == [.unanswered])
    }

    @Test func `the loader's error is the player's`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let loader = Loader(studio) { $0.finishLoading(with: NSError(domain: "app", code: 7)) }
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(loader)
            let error = await #expect(throws: NSError.self) { try await play() }
            #expect(error?.code == 7)
        }
    }

    @Test(arguments: [Misbehavior.callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate])
    func `a correct loader survives`(_ misbehavior: Misbehavior) async throws {
        let studio = try Studio(misbehavior)
        try await studio.stage.run {
            PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(Loader(studio))
            let result = try await play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(studio.log.violations.isEmpty)
    }
}

/// A loader as an app should have it, unless a test has another answer.
private final class Loader: NSObject, PTAVAssetResourceLoaderDelegate, Sendable {
    typealias Script = @Sendable (AVAssetResourceLoadingRequest) throws -> Void

    private let script: Script

    init(_ studio: Studio, _ script: Script? = nil) {
        self.script =
            script ?? { request in
                let box = Kept(request: request)
                Task { try Self.answer(box.request, studio) }
            }
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader!,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
    ) -> Bool {
        guard let loadingRequest, loadingRequest.request.url?.scheme == "skd" else { return false }
        return (try? script(loadingRequest)) != nil
    }

    static func answer(_ request: AVAssetResourceLoadingRequest, _ studio: Studio) throws {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: studio.server.certificate, contentIdentifier: Data(name.utf8))
        request.dataRequest?.respond(with: try studio.server.license(for: spc))
        request.finishLoading()
    }
}

private struct Kept: Sendable {
    let request: AVAssetResourceLoadingRequest
}
