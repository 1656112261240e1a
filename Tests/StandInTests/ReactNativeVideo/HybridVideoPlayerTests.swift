import Foundation
import LatchkeyCore
import LatchkeySimulation
import ReactNativeVideo
import StandInEngine
import Testing

/// What stands in for the plug point of react-native-video.
@Suite struct HybridVideoPlayerTests {
    private let parameters = NativeDrmParams(
        type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
        multiSession: nil, getLicense: nil)

    private func player(_ parameters: NativeDrmParams?) -> HybridVideoPlayer {
        HybridVideoPlayer(
            config: NativeVideoConfig(uri: Studio.playlist(of: .twoKeys).absoluteString, drm: parameters))
    }

    @Test func `a stream whose keys come from a plugin's manager plays right`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let plugin = Plugin(studio.server)
            let player = player(parameters)
            try await player.play()
            let result = try await #require(player.standIn).finished()
            #expect(result.isRight)
            #expect(studio.log.contents.count(of: "didProvide") == result.keyURIs.count)
            withExtendedLifetime(plugin) {}
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a protected source without a plugin does not play`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            _ = await #expect(throws: NSError.self) { try await player(parameters).play() }
        }
    }

    @Test func `a plugin that is unregistered is not asked`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let plugin = Plugin(studio.server)
            PluginsRegistry.shared.unregister(plugin: plugin)
            await #expect(throws: NSError.self) { try await player(parameters).play() }
        }
    }

    @Test func `a manager's error keeps the source from playing`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let plugin = Plugin(studio.server)
            var parameters = parameters
            parameters.type = "widevine"
            await #expect(throws: CocoaError.self) { try await player(parameters).play() }
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a script's promise gives what it is resolved with`() async throws {
        let promise = Promise<String>()
        promise.resolve(withResult: "license")
        #expect(try await promise.await() == "license")
    }
}

private final class Plugin: ReactNativeVideoPlugin {
    private let server: KeyServer

    init(_ server: KeyServer) {
        self.server = server
        super.init(name: "test")
    }

    override func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? { Manager(server) }
}

/// The delegate of a source's key session: the one of the AVFoundation tests, with the plug point's method.
private final class Manager: NSObject, DRMManagerSpec {
    private let session = AVContentKeySession(keySystem: .fairPlayStreaming)
    private let keys: AppDelegate

    init(_ server: KeyServer) { keys = AppDelegate(server) }

    func createContentKeyRequest(for asset: AVURLAsset, drmParams: NativeDrmParams) throws {
        guard drmParams.type == "fairplay" else { throw CocoaError(.featureUnsupported) }
        session.setDelegate(self, queue: keys.queue)
        session.addContentKeyRecipient(asset)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        keys.contentKeySession(session, didProvide: keyRequest)
    }
}
