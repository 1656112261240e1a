import BitmovinPlayer
import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation
import StandInEngine
import Testing

/// An app with Bitmovin's player.
enum BitmovinApp {
    /// A configuration with all closures. Each returns its value unchanged unless a test replaces it.
    static func configuration(_ demo: DemoServer) throws -> FairplayConfig {
        let config = FairplayConfig(
            license: URL(string: demo.license), certificateURL: try #require(URL(string: demo.certificate)))
        config.licenseRequestHeaders = ["X-Token": "t"]
        config.prepareContentId = { $0 }
        config.prepareCertificate = { $0 }
        config.prepareMessage = { spc, _ in spc }
        config.prepareLicenseServerUrl = { $0 }
        config.prepareLicense = { $0 }
        return config
    }

    static func source(_ config: FairplayConfig, _ stream: DemoAsset = .transportStream) -> any Source {
        let source = SourceConfig(url: StandInFixture.playlist(of: stream), type: .hls)
        source.drmConfig = config
        return SourceFactory.create(from: source)
    }

    static func play(_ source: any Source) async throws -> StandInPlayback.Result {
        let player = PlayerFactory.create(playerConfig: PlayerConfig())
        player.load(source: source)
        player.play()
        return try await #require(source.standIn).finished()
    }
}

final class BitmovinListener: NSObject, SourceListener, Sendable {
    let requests = Locked<[FairplayContentKeyRequest]>([])
    let codes = Locked<[Int]>([])

    func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
        requests.withLock { $0.append(event.contentKeyRequest) }
    }

    func onSourceError(_ event: SourceErrorEvent, source: any Source) { codes.withLock { $0.append(event.code) } }
}
