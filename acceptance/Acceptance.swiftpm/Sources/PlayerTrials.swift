import Foundation
import Latchkey

// The SDKs and the adapters' files are added as README.md says; a trial without its SDK is skipped. Where the repository itself compiles
// this, on Linux, the adapters are modules.
#if canImport(JWPlayerKit)
    import JWPlayerKit
#endif
#if canImport(THEOplayerSDK)
    import THEOplayerSDK
#endif
#if canImport(OPYSDKFPS)
    import OPYSDKFPS
#endif
#if canImport(PSDKLibrary)
    import PSDKLibrary
#endif
#if os(Linux)
    import LatchkeyJWPlayer
    import LatchkeyOpenTV
    import LatchkeyTHEOplayer
    import LatchkeyTVSDK
#endif

/// The stream in a player whose SDK the person added.
extension Trials {
    /// Plays for twenty seconds.
    /// - Returns: Whether a license came and nothing failed; the person looks whether the picture moves.
    func playInAnotherPlayer(_ id: String) async throws -> Finding {
        let loader = try setup.loader()
        let watch = KeyWatch()
        let events = loader.events()
        let following = Task { await watch.follow(events) }
        defer { following.cancel() }
        held = []
        let begins = try begin(id, loader) { failure in Task { await watch.note(failure) } }
        guard begins else { return Finding(outcome: .skipped, note: "The SDK is not part of this app.") }
        try await Task.sleep(for: .seconds(20))
        let (licenses, failures) = (await watch.licenses, await watch.failures)
        return Finding(
            outcome: licenses > 0 && failures.isEmpty ? .seen : .different,
            note: "\(await watch.summary); does the picture move?")
    }

    private func begin(
        _ id: String, _ loader: ContentKeyLoader, _ onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) throws -> Bool {
        switch id {
        case "jwplayer": try beginJWPlayer(loader, onFailure)
        case "theoplayer": beginTHEOplayer(loader, onFailure)
        case "connect": beginConnect(loader, onFailure)
        default: beginTVSDK(loader, onFailure)
        }
    }

    private func beginJWPlayer(
        _ loader: ContentKeyLoader, _ onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) throws -> Bool {
        #if canImport(JWPlayerKit)
            let keys = JWPlayerKeys(loader, onFailure: onFailure)
            let view = JWPlayerView()
            view.player.contentKeyDataSource = keys
            let item = try JWPlayerItemBuilder().file(setup.stream).build()
            view.player.configurePlayer(
                with: try JWPlayerConfigurationBuilder().playlist(items: [item]).autostart(true).build())
            (held, shown) = ([keys, view], view)
            return true
        #else
            return false
        #endif
    }

    private func beginTHEOplayer(
        _ loader: ContentKeyLoader, _ onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) -> Bool {
        #if canImport(THEOplayerSDK)
            THEOplayerKeys(loader, onFailure: onFailure).register(as: "acceptance")
            let player = THEOplayer()
            player.source = SourceDescription(
                source: TypedSource(
                    src: setup.stream.absoluteString, type: "application/x-mpegurl",
                    drm: FairPlayDRMConfiguration(
                        customIntegrationId: "acceptance", licenseAcquisitionURL: setup.settings["licenseURL"] ?? "",
                        certificateURL: setup.settings["certificateURL"] ?? "")))
            player.play()
            (held, shown) = ([player], player)
            return true
        #else
            return false
        #endif
    }

    private func beginConnect(
        _ loader: ContentKeyLoader, _ onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) -> Bool {
        #if canImport(OPYSDKFPS)
            OTVSDK.load()
            let keys = OpenTVKeys(loader, onFailure: onFailure)
            OTVDRMManager.shared.setLicenseDelegate(keys)
            let player = OTVAVPlayer(url: setup.stream)
            player.play()
            (held, shown) = ([keys, player], player)
            return true
        #else
            return false
        #endif
    }

    private func beginTVSDK(
        _ loader: ContentKeyLoader, _ onFailure: @escaping @Sendable (KeyFailure) -> Void
    ) -> Bool {
        #if canImport(PSDKLibrary)
            let keys = TVSDKKeys(loader, onFailure: onFailure)
            keys.register()
            let item = PTMediaPlayerItem(url: setup.stream, mediaId: "acceptance", metadata: PTMetadata())
            guard let player = PTMediaPlayer(mediaPlayerItem: item) else { return false }
            player.play()
            (held, shown) = ([keys, player], player)
            return true
        #else
            return false
        #endif
    }
}
