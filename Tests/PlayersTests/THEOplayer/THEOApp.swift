import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTHEOplayer
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK

/// An app on THEOplayer: a registered integration and a player with a source that names it.
// Sound: the player is used by one task at a time.
final class THEOApp: @unchecked Sendable {
    let player = THEOplayer()
    let failures = FailureLog()

    /// Registers a factory, and plays a stream with it.
    init(
        _ factory: (FailureLog) -> any ContentProtectionIntegrationFactory,
        playing source: SourceDescription
    ) {
        THEOplayer.registerContentProtectionIntegration(
            integrationId: "test", keySystem: .FAIRPLAY, integrationFactory: factory(failures))
        player.source = source
    }

    /// Plays a stream with a loader.
    convenience init(_ loader: ContentKeyLoader, playing source: SourceDescription) {
        self.init({ THEOplayerKeys(loader, onFailure: $0.add) }, playing: source)
    }

    /// Plays from the start.
    func play() async throws -> StandInPlayback.Result {
        player.play()
        return try await player.standIn.finished()
    }

    /// Plays from the start, and fails.
    func failure() async -> (any ContentProtectionError)? {
        do {
            _ = try await play()
            return nil
        } catch {
            return error as? any ContentProtectionError
        }
    }
}

extension PlayerStage {
    /// A source that names the test's integration.
    func source(
        _ asset: DemoAsset = .transportStream, for profile: VendorProfile = .vuDRM, as integrationId: String = "test",
        licenseType: LicenseType = .temporary, headers: [[String: String]]? = nil,
        parameters: [String: Any]? = nil, query: [String: String]? = nil
    ) -> SourceDescription {
        let service = service(for: profile)
        let addresses = service.parameters(at: "\(address)/\(service.identifier)", for: profile.identifier)
        return SourceDescription(
            source: TypedSource(
                src: playlist(asset, for: profile).absoluteString, type: "application/x-mpegurl",
                drm: FairPlayDRMConfiguration(
                    customIntegrationId: integrationId, licenseAcquisitionURL: addresses["licenseURL"],
                    certificateURL: addresses["certificateURL"], headers: headers, licenseType: licenseType,
                    integrationParameters: parameters, queryParameters: query)))
    }

    /// The configuration of `loader(_:)`, for loaders that a test makes.
    var configuration: LoaderConfiguration {
        LoaderConfiguration(
            retry: RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(300), deadline: .seconds(900)),
            hosts: HostPolicy(loopback: .http), certificateFetch: .withFirstKey)
    }
}
