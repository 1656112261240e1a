import AVFoundation
import Foundation
import JWPlayerKit
import JWPlayer_iOS_SDK
import Latchkey
import LatchkeyCore
import LatchkeyExamples
import LatchkeyTerminal
import LatchkeyVendors
import OPYSDKFPS
import PSDKLibrary
import StandInEngine
import StandInPlayers
import THEOplayerSDK

/// The applications of `Examples`. Each one plays a scene to its end.
@MainActor
enum DemoApplications {
    typealias Scene = DemoDocument.Scene

    static func jwPlayer3(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = JWPlayerV3VuDRM(
            content: scene.content, certificate: try scene.address("certificateURL"),
            configuration: scene.configuration, token: { [token = scene.token] in token() },
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        guard let player = app.player else { throw UsageError("there is no player.") }
        player.standIn.playback?.writePicture(to: scene.picture)
        app.play()
        return try await player.standIn.finished()
    }

    static func jwPlayer4(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = JWPlayerVuDRM(
            content: scene.content, certificate: try scene.address("certificateURL"),
            configuration: scene.configuration, token: { [token = scene.token] in token() },
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        try app.play()
        app.view.standIn.playback?.writePicture(to: scene.picture)
        return try await app.view.standIn.finished()
    }

    static func avPlayer(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = AVPlayerCloudDRM(
            video: scene.content, certificate: try scene.address("certificateURL"),
            brand: scene.settings["brandGuid"] ?? "", configuration: scene.configuration,
            userToken: { [token = scene.token] in token() },
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        return try await play(app.player, scene, app.play)
    }

    static func avPlayerOlderSamples(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = AVPlayerCloudDRMOlderSamples(
            video: scene.content, certificate: try scene.address("certificateURL"),
            brand: scene.settings["brandGuid"] ?? "", configuration: scene.configuration,
            userToken: { [token = scene.token] in token() },
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        return try await play(app.player, scene, app.play)
    }

    private static func play(
        _ player: AVPlayer, _ scene: Scene, _ begin: () -> Void
    ) async throws -> StandInPlayback.Result {
        guard let item = player.currentItem else { throw UsageError("the player has no item.") }
        item.standIn.writePicture(to: scene.picture)
        begin()
        return try await item.standIn.finished()
    }

    /// Plays one of the vendors of THEOplayer's samples.
    static func theoPlayer(
        _ scene: Scene, _ integration: String, _ parameters: [String: String]
    ) async throws -> StandInPlayback.Result {
        let app = THEOplayerCustomIntegrations(
            configuration: scene.configuration,
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        app.play(
            scene.content, with: integration, certificate: try scene.address("certificateURL"),
            license: try? scene.address("licenseURL"), parameters: parameters)
        return try await finished(app.player, scene)
    }

    static func theoPlayerOwnIntegration(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = THEOplayerOwnIntegration(
            configuration: scene.configuration,
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        app.play(
            scene.content, license: try scene.address("licenseURL"),
            certificate: try scene.address("certificateURL"),
            token: scene.token())
        return try await finished(app.player, scene)
    }

    private static func finished(_ player: THEOplayer, _ scene: Scene) async throws -> StandInPlayback.Result {
        player.standIn.playback?.writePicture(to: scene.picture)
        do {
            return try await player.standIn.finished()
        } catch let error as any THEOError {
            throw error.cause ?? error
        }
    }

    static func connect(_ scene: Scene) async throws -> StandInPlayback.Result {
        let service = SessionService(
            certificate: try scene.address("certificateURL"), license: try scene.address("licenseURL"),
            sessions: try scene.address("sessionURL"), contentToken: scene.token())
        let app = ConnectCustomerSSM(service) { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) }
        try await app.play(scene.content)
        guard let player = app.player else { throw UsageError("there is no player.") }
        player.currentItem?.standIn.writePicture(to: scene.picture)
        let result = try await player.standIn.finished()
        try await scene.passTime()
        try await app.stop()
        return result
    }

    static func connectSSP(_ scene: Scene) async throws -> StandInPlayback.Result {
        let app = ConnectSSP(
            certificate: try scene.address("certificateURL"), license: try scene.address("licenseURL"),
            sessions: try scene.address("sessionURL"), configuration: scene.configuration,
            contentToken: { [token = scene.token] in token() },
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        app.play(scene.content)
        guard let player = app.player else { throw UsageError("there is no player.") }
        player.currentItem?.standIn.writePicture(to: scene.picture)
        let result = try await player.standIn.finished()
        try await scene.passTime()
        app.stop()
        return result
    }

    static func tvSDKTokenURL(_ scene: Scene) async throws -> StandInPlayback.Result {
        // ExpressPlay's own hosts are known; only the playlist names this one.
        var configuration = scene.configuration
        let port = scene.content.port.map { ":\($0)" } ?? ""
        configuration.hosts.allowed = [HostPolicy.Host("\(scene.content.host ?? "")\(port)")]
        return try await tvSDK(.tokenURL, scene, configuration)
    }

    static func tvSDKEntitlement(_ scene: Scene) async throws -> StandInPlayback.Result {
        try await tvSDK(.entitlement(scene.address("entitlementURL")), scene, scene.configuration)
    }

    static func tvSDKTokenServer(_ scene: Scene) async throws -> StandInPlayback.Result {
        try await tvSDK(.tokenServer(scene.address("tokenServerURL")), scene, scene.configuration)
    }

    static func tvSDKOnPremise(_ scene: Scene) async throws -> StandInPlayback.Result {
        try await tvSDK(.onPremise(scene.address("licenseURL")), scene, scene.configuration)
    }

    private static func tvSDK(
        _ useCase: TVSDKExpressPlay.UseCase, _ scene: Scene, _ configuration: LoaderConfiguration
    ) async throws -> StandInPlayback.Result {
        let certificate = scene.settings["certificate"].flatMap { Data(base64Encoded: $0) } ?? Data()
        let app = TVSDKExpressPlay(
            useCase, certificate: certificate, configuration: configuration,
            onFailure: { [errors = scene.errors] in errors.note($0.loaderError ?? $0.error) })
        app.play(scene.content)
        guard let player = app.player else { throw UsageError("there is no player.") }
        player.standIn.writePicture(to: scene.picture)
        return try await player.standIn.finished()
    }
}
