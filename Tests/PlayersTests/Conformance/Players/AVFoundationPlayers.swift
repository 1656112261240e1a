import AVFoundation
import LatchkeyAVFoundation
import LatchkeyReactNativeVideo
import LatchkeyTVSDK
import PSDKLibrary
import ReactNativeVideo
import StandInEngine
import Testing

/// AVFoundation, and the players whose adapters are AVFoundation's.
extension PlayerUnderTest {
    static let contentKeySession = PlayerUnderTest(
        "AVFoundation, key session",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys, .anyURI,
        ], asksBy: "didProvide"
    ) { setup in
        let keys = Kept(AVPlayerKeys(setup.loader, onFailure: setup.failures.add))
        let asset = AVURLAsset(url: setup.playlist)
        keys.object?.protect(asset)
        return AppUnderTest(
            play: { try await AVApp.play(asset) }, leave: { keys.object?.release(asset) }, drop: { keys.drop() })
    }

    static let resourceLoader = PlayerUnderTest(
        "AVFoundation, resource loader",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys,
        ], asksBy: "shouldWaitForLoading"
    ) { setup in
        let keys = Kept(ResourceLoaderKeys(setup.loader, onFailure: setup.failures.add))
        let asset = AVURLAsset(url: setup.playlist)
        keys.object?.protect(asset)
        return AppUnderTest(
            play: { try await AVApp.play(asset) }, leave: { keys.object?.release(asset) }, drop: { keys.drop() })
    }

    static let tvSDK = PlayerUnderTest(
        "TVSDK",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer,
            .endsWithItsObjects,
        ], asksBy: "resourceLoader"
    ) { setup in
        // Sound: the factory is used by one task at a time.
        nonisolated(unsafe) let factory = try #require(PTDefaultMediaPlayerClientFactory.default())
        let keys = Kept(TVSDKKeys(setup.loader, onFailure: setup.failures.add))
        keys.object?.register()
        let playing = Locked<Kept<PTMediaPlayer>?>(nil)
        return AppUnderTest(
            play: {
                let item = PTMediaPlayerItem(url: setup.playlist, mediaId: "demo", metadata: PTMetadata())
                // A player asks for its item's keys as soon as it has the item.
                let player = Kept(try #require(PTMediaPlayer(mediaPlayerItem: item)))
                playing.withLock { $0 = player }
                player.object?.play()
                return try await #require(player.object?.standIn).finished()
            }, leave: { keys.object?.release() },
            drop: {
                factory.registerPTAVAssetResourceLoader(nil)
                keys.drop()
            })
    }

    static let reactNativeVideo = PlayerUnderTest(
        "react-native-video",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys, .anyURI,
        ], asksBy: "didProvide"
    ) { setup in
        // Sound: the registry has a lock.
        nonisolated(unsafe) let registry = PluginsRegistry.shared
        // Sound: the plugin is used by one task at a time.
        nonisolated(unsafe) let plugin = ReactNativeVideoKeys(setup.loader, onFailure: setup.failures.add)
        let parameters = NativeDrmParams(
            type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
            multiSession: nil, getLicense: nil)
        let source = NativeVideoConfig(uri: setup.playlist.absoluteString, drm: parameters)
        let player = Kept(HybridVideoPlayer(config: source))
        return AppUnderTest(
            play: {
                try await player.object?.play()
                return try await #require(player.object?.standIn).finished()
            }, leave: { plugin.release() },
            drop: {
                registry.unregister(plugin: plugin)
                player.drop()
            })
    }
}
