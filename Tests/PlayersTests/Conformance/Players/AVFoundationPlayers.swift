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
        in: [
            "AVFoundation/ContentKeySession", "AVFoundation/SessionKeyRequest",
            "AVFoundation/AVContentKeyRequest+Latchkey",
        ],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys, .anyURI,
        ], asksBy: "didProvide"
    ) { setup in
        let keys = Kept(ContentKeySessionBridge(setup.loader) { setup.errors.add($0) })
        let asset = AVURLAsset(url: setup.playlist)
        keys.object?.protect(asset)
        return AppUnderTest(
            play: { try await AVApp.play(asset) }, leave: { keys.object?.unprotect(asset) }, drop: { keys.drop() })
    }

    static let resourceLoader = PlayerUnderTest(
        "AVFoundation, resource loader",
        in: [
            "AVFoundation/ResourceLoaderBridge", "AVFoundation/LoadingKeyRequest",
        ],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys,
        ], asksBy: "shouldWaitForLoading"
    ) { setup in
        let keys = Kept(ResourceLoaderBridge(setup.loader) { setup.errors.add($0.error) })
        let asset = AVURLAsset(url: setup.playlist)
        keys.object?.protect(asset)
        return AppUnderTest(
            play: { try await AVApp.play(asset) }, leave: { keys.object?.unprotect(asset) }, drop: { keys.drop() })
    }

    static let tvSDK = PlayerUnderTest(
        "TVSDK", in: ["TVSDK"],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .tellsPlayer,
            .endsWithItsObjects,
        ], asksBy: "resourceLoader"
    ) { setup in
        let factory = try #require(PTDefaultMediaPlayerClientFactory.default())
        TVSDKResourceLoader(setup.loader) { setup.errors.add($1) }.register()
        return AppUnderTest(
            play: {
                let item = PTMediaPlayerItem(url: setup.playlist, mediaId: "demo", metadata: PTMetadata())
                // A player asks for its item's keys as soon as it has the item.
                let player = try #require(PTMediaPlayer(mediaPlayerItem: item))
                player.play()
                return try await player.standIn.finished()
            }, leave: { setup.loader.cancel() }, drop: { factory.registerPTAVAssetResourceLoader(nil) })
    }

    static let reactNativeVideo = PlayerUnderTest(
        "react-native-video", in: ["ReactNativeVideo"],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .tellsPlayer,
            .endsWithItsObjects, .renewal,
            .storedKeys, .anyURI,
        ], asksBy: "didProvide"
    ) { setup in
        let registry = PluginsRegistry.shared
        // Sound: the plugin is used by one task at a time.
        nonisolated(unsafe) let plugin = ReactNativeVideoKeys(
            notify: { setup.errors.add($0) }, choosing: { _ in setup.loader })
        let parameters = NativeDrmParams(
            type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
            multiSession: nil, getLicense: nil)
        let source = NativeVideoConfig(uri: setup.playlist.absoluteString, drm: parameters)
        let player = Kept(HybridVideoPlayer(config: source))
        return AppUnderTest(
            play: {
                try await player.object?.play()
                return try await #require(player.object?.standIn).finished()
            }, leave: { setup.loader.cancel() },
            drop: {
                registry.unregister(plugin: plugin)
                player.drop()
            })
    }
}

extension ErrorLog {
    func add(_ notice: ContentKeySessionNotice) {
        if case .failed(let failure) = notice { add(failure.error) }
    }
}
