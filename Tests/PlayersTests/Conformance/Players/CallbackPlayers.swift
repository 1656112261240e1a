import BitmovinPlayer
import JWPlayerKit
import JWPlayer_iOS_SDK
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyTHEOplayer
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

/// Players that ask by completion handlers, callback objects and closures.
extension PlayerUnderTest {
    static let jwPlayer = PlayerUnderTest(
        "JW Player 4",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .endsWithItsObjects, .renewal,
            .storedKeys,
        ], asksBy: "contentKeyWithSPCData", spcTimeout: .seconds(3)
    ) { setup in
        let stored = setup.folder.map { JWPlayerStoredKeys(in: $0, onFailure: setup.failures.add) }
        let keys = Kept(
            JWPlayerKeys(
                setup.loader, stored: stored, timekeeper: setup.stage.time, onFailure: setup.failures.add))
        let view = JWPlayerView()
        view.player.contentKeyDataSource = keys.object
        if let stored, let source = keys.object {
            view.player.contentLoader = JWDRMContentLoader(dataSource: source, keyManager: stored)
        }
        let item = try JWPlayerItemBuilder().file(setup.playlist).build()
        // Sound: it never changes.
        nonisolated(unsafe) let configuration = try JWPlayerConfigurationBuilder().playlist(items: [item]).build()
        return AppUnderTest(
            play: {
                view.player.configurePlayer(with: configuration)
                view.player.play()
                defer { withExtendedLifetime(stored) {} }
                return try await view.standIn.finished()
            },
            leave: {
                view.player.stop()
                keys.object?.release()
            }, drop: { keys.drop() },
            store: {
                stored?.isDownloading = true
                view.player.contentLoader?.load(items: [try JWPlayerItemBuilder().file(setup.playlist).build()])
                await setup.stage.log.untilCallback("didWritePersistableContentKey")
            })
    }

    static let jwPlayerV3 = PlayerUnderTest(
        "JW Player 3",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .endsWithItsObjects, .renewal,
        ], asksBy: "fetchContentKey", spcTimeout: .seconds(3)
    ) { setup in
        let keys = Kept(
            JWPlayerKeys(setup.loader, timekeeper: setup.stage.time, onFailure: setup.failures.add))
        // Sound: the player is used by one task at a time.
        nonisolated(unsafe) let player = try #require(
            JWPlayerController(
                config: JWConfig(contentURL: setup.playlist.absoluteString), delegate: nil, drmDataSource: keys.object))
        return AppUnderTest(
            play: {
                player.play()
                return try await player.standIn.finished()
            },
            leave: {
                player.stop()
                keys.object?.release()
            }, drop: { keys.drop() })
    }

    static let theoPlayer = PlayerUnderTest(
        "THEOplayer",
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer, .endsWithItsObjects, .renewal,
            .anyURI,
        ], asksBy: "onLicenseRequest"
    ) { setup in
        THEOplayerKeys(setup.loader, onFailure: setup.failures.add).register(as: "test")
        let player = Kept(THEOplayer())
        player.object?.source = setup.stage.source(setup.stream, for: setup.profile)
        return AppUnderTest(
            play: {
                player.object?.play()
                // The player itself may go before its stream ends.
                let standIn = try #require(player.object?.standIn)
                return try await standIn.finished()
            }, leave: { player.object?.source = nil }, drop: { player.drop() })
    }

    static let bitmovin = PlayerUnderTest(
        "Bitmovin",
        can: [.returnsAtOnce, .keysInParallel, .renewal, .anyURI],
        asksBy: "prepareMessage"
    ) { setup in
        let (stage, service) = (setup.stage, setup.stage.service(for: setup.profile))
        // The player keeps no sessions.
        let sourceConfig = SourceConfig(url: setup.playlist, type: .hls)
        let keys = try await BitmovinKeys(
            stage.configured(setup.profile) { $0 != "sessionURL" }.unchecked,
            credentials: Credentials { _ in CredentialSet(["token": service.issueWithoutSession()]) },
            hosts: HostPolicy(loopback: .http), onFailure: setup.failures.add)
        keys.protect(sourceConfig)
        let source = SourceFactory.create(from: sourceConfig)
        let licenses = Licenses()
        source.add(listener: licenses)
        // Sound: the player is used by one task at a time.
        nonisolated(unsafe) let player = PlayerFactory.create()
        return AppUnderTest(
            play: {
                player.load(source: source)
                player.play()
                return try await #require(source.standIn).finished()
            }, leave: { player.unload() }, drop: { player.destroy() },
            renew: {
                for await request in licenses.requests {
                    return source.drm.fairplay.renewExpiringLicense(for: request)
                }
            })
    }
}

/// The requests whose licenses a source reported; it does so on a queue, perhaps after the stream has played.
private final class Licenses: NSObject, SourceListener, Sendable {
    let requests: AsyncStream<FairplayContentKeyRequest>
    private let continuation: AsyncStream<FairplayContentKeyRequest>.Continuation

    override init() {
        (requests, continuation) = AsyncStream.makeStream(of: FairplayContentKeyRequest.self)
        super.init()
    }

    func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
        continuation.yield(event.contentKeyRequest)
    }

    func onSourceError(_ event: SourceErrorEvent, source: any Source) {}
}
