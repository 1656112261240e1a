import Foundation
import LatchkeyCore
import LatchkeyOpenTV
import LatchkeySimulation
import LatchkeyVendors
import OPYSDKFPS
import StandInEngine

/// An app on NAGRA CONNECT: the SDK with a license delegate, its players, and the failures that the adapter reported.
struct OpenTVApp: Sendable {
    let stage: PlayerStage
    let failures: FailureLog
    /// The adapter's delegate, if it is the SDK's.
    private(set) var keys: OpenTVKeys?

    /// Loads the SDK, and sets a license delegate.
    init(
        _ stage: PlayerStage, _ failures: FailureLog = FailureLog(), _ delegate: (FailureLog) -> any OTVLicenseDelegate
    ) {
        (self.stage, self.failures) = (stage, failures)
        OTVSDK.load()
        OTVDRMManager.shared.setLicenseDelegate(delegate(failures))
    }

    /// The SDK with the adapter's delegate over a loader.
    init(_ stage: PlayerStage, _ loader: ContentKeyLoader, deadline: Duration = .seconds(60)) {
        let failures = FailureLog()
        let keys = OpenTVKeys(loader, deadline: deadline, onFailure: failures.add)
        self.init(stage, failures) { _ in keys }
        self.keys = keys
    }

    /// The SDK with its own delegate, and the adapter's callback with an app's code.
    init(
        _ stage: PlayerStage, certificate: Data, _ app: some CustomerSessionCallbacks,
        deadline: Duration = .seconds(60)
    ) {
        self.init(stage) { failures in
            let delegate = OTVCustomerSSMDelegate(certificate: certificate)
            delegate.setCallback(OpenTVCustomerKeys(app, deadline: deadline, onFailure: failures.add))
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
