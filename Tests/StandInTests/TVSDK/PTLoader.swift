import Foundation
import LatchkeyCore
import LatchkeySimulation
import PSDKLibrary
import StandInEngine
import Testing

/// A correct loader. A test can replace its answer.
final class PTLoader: NSObject, PTAVAssetResourceLoaderDelegate, Sendable {
    typealias Script = @Sendable (AVAssetResourceLoadingRequest) throws -> Void

    private let script: Script

    init(_ fixture: StandInFixture, _ script: Script? = nil) {
        self.script =
            script ?? { request in
                let box = Kept(request: request)
                Task { try LoaderApp.answer(box.request, fixture) }
            }
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader!,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
    ) -> Bool {
        guard let loadingRequest, loadingRequest.request.url?.scheme == "skd" else { return false }
        return (try? script(loadingRequest)) != nil
    }

    func register() { PTDefaultMediaPlayerClientFactory.default().registerPTAVAssetResourceLoader(self) }

    static func item() -> PTMediaPlayerItem {
        PTMediaPlayerItem(
            url: StandInFixture.playlist(of: .transportStream), mediaId: "demo", metadata: PTMetadata())
    }

    /// Plays with this loader.
    func play() async throws -> StandInPlayback.Result {
        register()
        let player = try #require(PTMediaPlayer(mediaPlayerItem: Self.item()))
        player.play()
        return try await player.standIn.finished()
    }
}

// Sound: only one task uses it at a time.
private struct Kept: @unchecked Sendable {
    let request: AVAssetResourceLoadingRequest
}
