import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal
import StandInEngine

/// A vendor's document for a player, and the forms of its code. The first form is the document's subject.
@MainActor
struct DemoDocument {
    let vendor, player: String
    /// The document's subject, in one sentence.
    let about: String
    let forms: [Form]

    /// One of a document's ways to play, and the application of `Examples` that uses it.
    struct Form {
        /// Its distinctive feature, in a few words.
        let name: String
        let service: ServiceIdentifier
        let asset: DemoAsset
        /// The picture's name without its ending.
        let picture: String
        /// The session's keep-alive method; `nil` without a session.
        var keepAlive: KeepAlive?
        let play: @MainActor (Scene) async throws -> StandInPlayback.Result
    }

    /// The method that keeps a session alive while virtual time passes.
    enum KeepAlive {
        case heartbeats, renewals

        /// The text that each leaves in the services' log.
        var trace: String { self == .heartbeats ? "/sessions/heartbeat" : "renew=true" }
        var name: String { self == .heartbeats ? "heartbeats" : "renewals" }
    }

    /// An application's input: its content, the vendor's settings, the file for a picture, the receiver of errors.
    struct Scene {
        let content: URL
        let settings: [String: String]
        let token: @Sendable () -> String
        let picture: URL
        let errors: ErrorBox
        /// Advances time after the stream has played, and checks that the session is kept alive.
        let passTime: @Sendable () async throws -> Void

        let configuration: LoaderConfiguration

        func address(_ setting: String) throws -> URL {
            guard let address = settings[setting].flatMap({ URL(string: $0) }) else {
                throw UsageError("the service gives no \(setting).")
            }
            return address
        }
    }

    /// The first error that an application received.
    final class ErrorBox: Sendable {
        private let first = Locked<(any Error)?>(nil)
        var error: (any Error)? { first.withLock { $0 } }
        func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
    }
}

extension DemoDocument {
    var title: String { "\(vendor) · \(player)" }

    /// The five documents.
    static let all = [
        DemoDocument(
            vendor: "VuDRM", player: "JW Player",
            about: "The player asks its data source for identifier, certificate and CKC.",
            forms: [
                Form(
                    name: "JW Player 3, its data source set once the player is made", service: "vudrm",
                    asset: .twoKeys,
                    picture: "vudrm", play: DemoApplications.jwPlayer3),
                Form(
                    name: "JW Player 4", service: "vudrm", asset: .twoKeys, picture: "vudrm-4",
                    play: DemoApplications.jwPlayer4),
            ]),
        DemoDocument(
            vendor: "Cloud DRM", player: "AVPlayer",
            about: "A content key session asks for each key; a header carries the token.",
            forms: [
                Form(
                    name: "the key URI is the license's address", service: "cloud-drm", asset: .transportStream,
                    picture: "cloud-drm", play: DemoApplications.avPlayerOlderSamples),
                Form(
                    name: "present samples: one address for all licenses", service: "cloud-drm",
                    asset: .transportStream, picture: "cloud-drm-present", play: DemoApplications.avPlayer),
            ]),
        DemoDocument(
            vendor: "Azure", player: "THEOplayer",
            about: "A source names an integration, which changes the player's requests.",
            forms: [
                Form(
                    name: "Azure, with its sample's source", service: "azure", asset: .rotation, picture: "azure"
                ) { try await DemoApplications.theoPlayer($0, "customAzureDRM", ["token": $0.token()]) },
                Form(
                    name: "VuDRM, with its sample's source", service: "vudrm", asset: .transportStream,
                    picture: "theo-vudrm"
                ) { try await DemoApplications.theoPlayer($0, "customVuDRM", ["token": $0.token()]) },
                Form(
                    name: "Uplynk, with its sample's source", service: "uplynk", asset: .twoKeys,
                    picture: "theo-uplynk"
                ) { try await DemoApplications.theoPlayer($0, "customUplynkDRM", [:]) },
                Form(
                    name: "EZDRM, with its sample's source", service: "ezdrm", asset: .transportStream,
                    picture: "theo-ezdrm"
                ) { try await DemoApplications.theoPlayer($0, "EzdrmDRMIntegration", [:]) },
                Form(
                    name: "Verimatrix, with its sample's source", service: "verimatrix", asset: .twoKeys,
                    picture: "theo-verimatrix"
                ) { try await DemoApplications.theoPlayer($0, "verimatrix", ["authorization": $0.token()]) },
                Form(
                    name: "KeyOS, with its sample's source", service: "keyos", asset: .twoKeys,
                    picture: "theo-keyos"
                ) {
                    try await DemoApplications.theoPlayer(
                        $0, "customkeyosDRM", ["x-keyos-authorization": $0.token()])
                },
                Form(
                    name: "Titanium, with its sample's source", service: "titanium", asset: .twoKeys,
                    picture: "theo-titanium"
                ) { scene in
                    let certificate = scene.settings["certificate"] ?? ""
                    return try await DemoApplications.theoPlayer(
                        scene, "titanium", ["authToken": scene.token(), "certificateData": certificate])
                },
                Form(
                    name: "Titanium, with its sample's source for a device", service: "titanium", asset: .twoKeys,
                    picture: "theo-titanium-device"
                ) { scene in
                    let names = ["accountName", "customerName", "portalId", "friendlyName"]
                    return try await DemoApplications.theoPlayer(
                        scene, "titanium", scene.settings.filter { names.contains($0.key) })
                },
                Form(
                    name: "an integration of your own, in code", service: "generic", asset: .twoKeys,
                    picture: "own-integration", play: DemoApplications.theoPlayerOwnIntegration),
            ]),
        DemoDocument(
            vendor: "customer SSM", player: "CONNECT",
            about: "The app opens a session at its own service, gets the licenses, and keeps the session alive.",
            forms: [
                Form(
                    name: "heartbeats keep the session alive", service: "nagra", asset: .twoKeys, picture: "nagra",
                    keepAlive: .heartbeats, play: DemoApplications.connect),
                Form(
                    name: "renewals of the license keep it alive", service: "nagra", asset: .transportStream,
                    picture: "nagra-enforced", keepAlive: .renewals, play: DemoApplications.connect),
                Form(
                    name: "nagra-ssp: sessions and licenses are NAGRA's", service: "nagra", asset: .twoKeys,
                    picture: "nagra-ssp", play: DemoApplications.connectSSP),
            ]),
        DemoDocument(
            vendor: "ExpressPlay", player: "TVSDK",
            about: "One resource loader of the app gets the keys of all players.",
            forms: [
                Form(
                    name: "the key URI is a token URL", service: "expressplay", asset: .transportStream,
                    picture: "expressplay", play: DemoApplications.tvSDKTokenURL),
                Form(
                    name: "an entitlement server gives the token URL", service: "expressplay", asset: .twoKeys,
                    picture: "expressplay-entitlement", play: DemoApplications.tvSDKEntitlement),
                Form(
                    name: "the app's own server gives the token URL", service: "expressplay", asset: .twoKeys,
                    picture: "expressplay-token-server", play: DemoApplications.tvSDKTokenServer),
                Form(
                    name: "your own license server", service: "expressplay", asset: .twoKeys,
                    picture: "expressplay-onpremise", play: DemoApplications.tvSDKOnPremise),
            ]),
    ]
}
