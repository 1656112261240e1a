import Foundation
import LatchkeyCore
import LatchkeyOpenTV
import LatchkeySimulation
import LatchkeyVendors
import OPYSDKFPS
import StandInEngine

/// An app on NAGRA CONNECT: the SDK with a license delegate, its players, and the errors that the adapter told of.
struct OpenTVApp: Sendable {
    let stage: PlayerStage
    let errors = ErrorLog()

    /// Loads the SDK, and sets a license delegate.
    init(_ stage: PlayerStage, _ delegate: (ErrorLog) -> any OTVLicenseDelegate) {
        self.stage = stage
        OTVSDK.load()
        OTVDRMManager.shared.setLicenseDelegate(delegate(errors))
    }

    /// The SDK with the adapter's delegate over a loader.
    init(_ stage: PlayerStage, _ loader: ContentKeyLoader, deadline: Duration = .seconds(60)) {
        self.init(stage) { errors in
            OpenTVLicenseDelegate(loader, deadline: deadline) { errors.add($1) }
        }
    }

    /// The SDK with its own delegate, and the adapter's callback over an app's code.
    init(
        _ stage: PlayerStage, certificate: Data, _ app: some CustomerSessionCallbacks,
        deadline: Duration = .seconds(60)
    ) {
        self.init(stage) { errors in
            let delegate = OTVCustomerSSMDelegate(certificate: certificate)
            delegate.setCallback(OpenTVCustomerCallback(app, deadline: deadline) { errors.add($0) })
            return delegate
        }
    }

    /// Whether a callback is one of the license delegate's; the SDK's own key session has others.
    static func isHook(_ callback: StandInCallback) -> Bool {
        ["contentIdentifier", "certificate", "ckcMessageWith", "license", "heartbeat"].contains(callback.name)
    }

    /// A player of one of the demo asset's streams, as a profile's playlists have it; it plays.
    func player(_ asset: DemoAsset = .transportStream, for profile: VendorProfile = .nagra) async -> OTVAVPlayer {
        let player = OTVAVPlayer(url: stage.playlist(asset, for: profile))
        await player.play()
        return player
    }

    /// Plays to the end.
    func play(
        _ asset: DemoAsset = .transportStream, for profile: VendorProfile = .nagra
    ) async throws -> StandInPlayback.Result {
        let player = await player(asset, for: profile)
        return try await player.standIn.finished()
    }
}
