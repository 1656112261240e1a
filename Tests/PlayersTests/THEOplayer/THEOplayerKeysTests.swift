import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

@_spi(Adapters) @testable import LatchkeyTHEOplayer

/// Streams that play through THEOplayer's stand-in, over HTTP.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerKeysTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with one license per key`(_ asset: DemoAsset) async throws {
        try await PlayerStage.with { stage in
            let app = THEOApp(stage.loader(), playing: stage.source(asset))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count)
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 1)
            #expect(stage.log.violations.isEmpty)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
        }
    }

    @Test func `each hook is the adapter's own and answers`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader()
            let app = THEOApp(loader, playing: stage.source())
            let (player, key) = (app.player.standIn, stage.key())
            let identifier = try #require(try await player.contentIdentifier(for: key))
            #expect(identifier == (try loader.contentIdentifier(for: key).bytes))
            let certificate = try await player.certificate()
            let exchange = StandInExchange(.streaming, on: stage.stage)
            let spc = try exchange.makeSPC(certificate: certificate, contentIdentifier: identifier)
            let license = try await player.license(for: spc, key)
            #expect(throws: Never.self) { try exchange.open(license) }
            let names = ["onExtractFairplayContentId", "onCertificateRequest", "onLicenseRequest"]
            await stage.log.untilCallbacks(names)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
        }
    }

    @Test func `version 4 gets its content identifier as text`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader()
            let app = THEOApp({ V4Factory(loader, $0) }, playing: stage.source(.twoKeys))
            let result = try await app.play()
            #expect(result.isRight)
            await stage.log.untilCallback("extractFairplayContentId")
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate,
        .releasesEarly, .reordersKeys,
    ])
    func `several keys play right despite the player`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = THEOApp(stage.loader(), playing: stage.source(.twoKeys))
            let played = try await app.play()
            #expect(played.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [ServiceEndpoint.certificate, .license])
    func `a refusal reaches the player with code, status and remedy, and without a secret`(
        _ endpoint: ServiceEndpoint
    ) async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: endpoint)
            let app = THEOApp(stage.loader(), playing: stage.source())
            let error = await app.failure()
            let cause = try #require(error?.cause as? NSError)
            #expect(cause.domain == ContentKeyError.errorDomain)
            #expect(cause.userInfo[ContentKeyError.UserInfoKey.status] as? Int == 403)
            #expect(cause.localizedRecoverySuggestion?.isEmpty == false)
            #expect(app.failures.codes.first == "forbidden")
            #expect(stage.secrets(in: "\(cause) \(cause.userInfo)" + app.failures.text).isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `an empty SPC is a player error`() async throws {
        try await PlayerStage.with(StandInBehavior([.completesWithNothing])) { stage in
            let app = THEOApp(stage.loader(), playing: stage.source())
            let error = await app.failure()
            #expect((error?.cause as? NSError)?.code == ContentKeyError.Kind.spcFailed.number)
            #expect(stage.log.violations.isEmpty)
        }
    }
}

/// The factory that an app on version 4 registers. The stand-in has the protocols of all versions, so the path for version 4, which
/// `THEOPLAYER_4` compiles, is called from here.
private final class V4Factory: ContentProtectionIntegrationFactory {
    private let loader: ContentKeyLoader
    private let failures: FailureLog

    init(_ loader: ContentKeyLoader, _ failures: FailureLog) { (self.loader, self.failures) = (loader, failures) }

    func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration {
        V4Integration(LoaderIntegration(.success(loader), nil, failures.add))
    }
}

private final class V4Integration: SynchronousContentIdentifier {
    private let base: LoaderIntegration

    init(_ base: LoaderIntegration) { self.base = base }

    func extractFairplayContentId(skdUrl: String) -> String { base.contentIdentifierText(for: skdUrl) }

    func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
        base.onCertificateRequest(request: request, callback: callback)
    }

    func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
        base.onLicenseRequest(request: request, callback: callback)
    }
}
