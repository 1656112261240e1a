#if os(Linux)
    import AVFoundation
    import Foundation
    import JWPlayerKit
    import Latchkey
    import LatchkeyCore
    import LatchkeyExamples
    import LatchkeyServer
    import LatchkeyServices
    import LatchkeySimulation
    import LatchkeyVendors
    import OPYSDKFPS
    import PSDKLibrary
    import StandInEngine
    import StandInPlayers
    import THEOplayerSDK

    /// Plays the applications of `Examples` against the emulated services: their players' stand-ins make the SPCs, open the CKCs,
    /// decrypt and decode.
    @MainActor
    struct PlayerDemonstration {
        let stage: DemoStage
        private let simulated: StandInStage

        /// An application, and what it plays.
        struct Row {
            let player: String
            let vendor: String
            let service: ServiceIdentifier
            let asset: DemoAsset
            let play: @MainActor (Scene) async throws -> StandInPlayback.Result
        }

        /// What an application is told: its content, the vendor's settings, where to leave a picture, where errors go.
        struct Scene {
            let content: URL
            let settings: [String: String]
            let token: @Sendable () -> String
            let picture: URL
            let errors: ErrorBox

            let configuration = LoaderConfiguration(hosts: HostPolicy(loopback: .http))

            func address(_ setting: String) throws -> URL {
                guard let address = settings[setting].flatMap({ URL(string: $0) }) else {
                    throw UsageError("the service gives no \(setting).")
                }
                return address
            }
        }

        /// The first error that an application heard of.
        final class ErrorBox: Sendable {
            private let first = Locked<(any Error)?>(nil)
            var error: (any Error)? { first.withLock { $0 } }
            func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
        }

        init(on stage: DemoStage) {
            self.stage = stage
            StandInHardware.register(stage.credentials)
            simulated = StandInStage(reference: stage.reference)
        }

        static let rows = [
            Row(player: "JW Player", vendor: "VuDRM", service: "vudrm", asset: .twoKeys, play: jwPlayer),
            Row(player: "AVPlayer", vendor: "Cloud DRM", service: "cloud-drm", asset: .transportStream, play: avPlayer),
            Row(player: "THEOplayer", vendor: "Azure", service: "azure", asset: .rotation, play: theoPlayer),
            Row(player: "CONNECT", vendor: "customer SSM", service: "nagra", asset: .twoKeys, play: connect),
            Row(player: "TVSDK", vendor: "ExpressPlay", service: "expressplay", asset: .transportStream, play: tvSDK),
        ]

        /// Plays a row.
        /// - Returns: its text, and whether everything is right.
        func play(_ row: Row) async -> (text: String, isRight: Bool) {
            let name = "\(row.vendor) · \(row.player)".padding(toLength: 26, withPad: " ", startingAt: 0)
            do {
                let line = try await line(row)
                return ("\(name)  \(line.text)", line.isRight)
            } catch {
                return ("\(name)  \(Failure(error).text)", false)
            }
        }

        private func line(_ row: Row) async throws -> DemoLine {
            guard let service = stage.bench.host.services.first(where: { $0.identifier == row.service }) else {
                throw UsageError("there is no service \(row.service).")
            }
            let address = stage.bench.media("\(row.asset.rawValue)/master.m3u8", through: service)
            guard let content = URL(string: address) else { throw UsageError("\(address) is no address.") }
            let picture = stage.output.appending(path: "\(row.service).png")
            let scene = Scene(
                content: content, settings: service.parameters(at: stage.bench.mount(of: service)),
                token: { service.demoToken().revealedText }, picture: picture, errors: ErrorBox())
            let before = requests
            let result: StandInPlayback.Result
            do { result = try await simulated.run { try await row.play(scene) } } catch {
                // What the adapter told the application says more than what became of the player.
                throw scene.errors.error ?? error
            }
            return DemoLine(
                requests: requests - before, timeToKey: result.timeToKey, frames: result.frameCount, picture: picture,
                isRight: result.isRight)
        }

        /// How often the services were asked, the media left out.
        private var requests: Int { stage.bench.host.journal.count { !$0.path.hasPrefix("/media/") } }
    }

    // MARK: - The applications

    extension PlayerDemonstration {
        private static func jwPlayer(_ scene: Scene) async throws -> StandInPlayback.Result {
            let app = JWPlayerVuDRM(
                content: scene.content, certificate: try scene.address("certificateURL"),
                configuration: scene.configuration, token: { [token = scene.token] in token() },
                onError: { [errors = scene.errors] in errors.note($0) })
            try app.play()
            app.view.standIn.playback?.writePicture(to: scene.picture)
            return try await app.view.standIn.finished()
        }

        private static func avPlayer(_ scene: Scene) async throws -> StandInPlayback.Result {
            let app = AVPlayerCloudDRM(
                video: scene.content, certificate: try scene.address("certificateURL"),
                brand: scene.settings["brandGuid"] ?? "", configuration: scene.configuration,
                userToken: { [token = scene.token] in token() },
                onError: { [errors = scene.errors] in errors.note($0) })
            guard let item = app.player.currentItem else { throw UsageError("the player has no item.") }
            item.standIn.writePicture(to: scene.picture)
            app.play()
            return try await item.standIn.finished()
        }

        private static func theoPlayer(_ scene: Scene) async throws -> StandInPlayback.Result {
            let app = THEOplayerCustomIntegrations(configuration: scene.configuration)
            app.play(
                scene.content, with: "azure", certificate: try scene.address("certificateURL"),
                parameters: ["token": scene.token()])
            app.player.standIn.playback?.writePicture(to: scene.picture)
            do {
                return try await app.player.standIn.finished()
            } catch let error as any THEOError {
                throw error.cause ?? error
            }
        }

        private static func connect(_ scene: Scene) async throws -> StandInPlayback.Result {
            let service = SessionService(
                certificate: try scene.address("certificateURL"), license: try scene.address("licenseURL"),
                sessions: try scene.address("sessionURL"), contentToken: scene.token())
            let app = ConnectCustomerSSM(service) { [errors = scene.errors] in errors.note($0) }
            try await app.play(scene.content)
            guard let player = app.player else { throw UsageError("there is no player.") }
            player.currentItem?.standIn.writePicture(to: scene.picture)
            let result = try await player.standIn.finished()
            try await app.stop()
            return result
        }

        private static func tvSDK(_ scene: Scene) async throws -> StandInPlayback.Result {
            let certificate = scene.settings["certificate"].flatMap { Data(base64Encoded: $0) } ?? Data()
            // ExpressPlay's own hosts are known; this one is named by the playlist alone.
            var configuration = scene.configuration
            let port = scene.content.port.map { ":\($0)" } ?? ""
            configuration.hosts.allowed = [HostPolicy.Host("\(scene.content.host ?? "")\(port)")]
            let app = TVSDKExpressPlay(
                .tokenURL, certificate: certificate, configuration: configuration,
                onError: { [errors = scene.errors] in errors.note($0) })
            app.play(scene.content)
            guard let player = app.player else { throw UsageError("there is no player.") }
            player.standIn.writePicture(to: scene.picture)
            return try await player.standIn.finished()
        }
    }
#endif
