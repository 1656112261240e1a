import Foundation
import LatchkeyCore
import LatchkeySimulation
import ReactNativeVideo
import StandInEngine
import Testing

/// Tests of the stand-in for react-native-video's plug-in interface.
@Suite(.timeLimit(.minutes(5))) struct HybridVideoPlayerTests {
    private let parameters = NativeDrmParams(
        type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
        multiSession: nil, getLicense: nil)

    private func player(_ parameters: NativeDrmParams?) -> HybridVideoPlayer {
        HybridVideoPlayer(
            config: NativeVideoConfig(uri: StandInFixture.playlist(of: .twoKeys).absoluteString, drm: parameters))
    }

    @Test func `a stream with keys from a plugin's manager plays right`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let plugin = Plugin(fixture.server)
            let player = player(parameters)
            try await player.play()
            let result = try await #require(player.standIn).finished()
            #expect(result.isRight)
            await fixture.log.untilCallback("didProvide", times: result.keyURIs.count)
            await fixture.log.untilCallbacks(["didProvide"], times: result.keyURIs.count)
            #expect(fixture.log.contents.count(of: "didProvide") == result.keyURIs.count)
            withExtendedLifetime(plugin) {}
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a protected source without a plugin does not play`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            _ = await #expect(throws: NSError.self) { try await player(parameters).play() }
        }
    }

    @Test func `an unregistered plugin is not called`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let plugin = Plugin(fixture.server)
            PluginsRegistry.shared.unregister(plugin: plugin)
            await #expect(throws: NSError.self) { try await player(parameters).play() }
        }
    }

    @Test func `a manager's error is swallowed, and the source does not play`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let plugin = Plugin(fixture.server)
            var parameters = parameters
            parameters.type = "widevine"
            let player = player(parameters)
            await #expect(throws: Never.self) { try await player.play() }
            await #expect(throws: (any Error).self) { try await player.standIn?.finished() }
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a script's promise returns its resolved value`() async throws {
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

/// The delegate of a source's key session: that of the AVFoundation tests, with the additional method of the plug-in interface.
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
