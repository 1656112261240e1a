import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Keys that the loader stores, from the license service to playback on the device, over several launches of an app.
@Suite(.timeLimit(.minutes(5))) struct OfflinePlaybackTests {
    private static let address = "https://services.test/media/vudrm/two-keys/master.m3u8"
    private let time = ManualTimekeeper()
    private let store = MemoryKeyStore()
    private let vault: KeyVault
    private let simulated: SimulatedServices

    init() throws {
        let terms = LicenseTerms(.dualExpiry(storage: .seconds(86_400), playback: .seconds(3_600)))
        vault = KeyVault(timekeeper: time)
        simulated = try SimulatedServices(policy: LicensePolicy(standard: terms), timekeeper: time)
    }

    /// The license requests so far.
    private var licenses: Int { simulated.transport.journal.filter { $0.method == "POST" }.count }

    /// Launches the app: a new loader with the same store, whose bridge reports the player's use of the keys.
    private func launchAndPlay() async throws -> (report: StreamReport, offline: OfflineKeys) {
        let loader = try simulated.loader(
            .vuDRM, configuration: LoaderConfiguration(certificateFetch: .withFirstKey, keyStore: store))
        let offline = try #require(loader.offline)
        let resources = WebResources(transport: simulated.transport)
        let keys = try await KeyDiscovery(resources).keys(at: Self.address).fairPlayURIs
        if try await offline.asset("movie") == nil { try await offline.register("movie", keys: Set(keys)) }
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: simulated.applicationSecret, vault: vault, resources: resources,
            timekeeper: time)
        let report = try await player.play(
            Self.address, with: FFmpeg(), purpose: .persistable, reference: DemoAsset.reference())
        for key in report.keys {
            if let replacement = key.replacement { offline.updated(key.uri, to: Secret(replacement)) }
        }
        // Updates are complete when a later call is complete.
        _ = try await offline.assets()
        return (report, offline)
    }

    @Test func `an asset plays every frame offline until the device no longer accepts its keys`()
        async throws
    {
        let first = try await launchAndPlay()
        #expect(first.report.isRight)
        #expect(try await first.offline.asset("movie")?.state == .playing)
        let fetched = licenses

        time.advance(by: .seconds(1_800))
        #expect(try await launchAndPlay().report.isRight)
        #expect(licenses == fetched)

        time.advance(by: .seconds(1_800))
        let late = try await launchAndPlay()
        #expect((late.report.failure as? DeviceError)?.kind == .expired)
        for key in late.report.keys { #expect(try await late.offline.rejected(key.uri) == .fetchAgain) }
        #expect(try await late.offline.asset("movie")?.state == .requested)

        #expect(try await launchAndPlay().report.isRight)
        #expect(licenses == 2 * fetched)
    }

    @Test func `without the player's update the second play fails, and the key is fetched again`() async throws {
        let first = try await launchAndPlay()
        let before = store.contents
        let uri = try #require(first.report.keys.first?.uri)
        // An app that ignores the update keeps the old stored key.
        let stale = try #require(try await persistable(uri))
        first.offline.updated(uri, to: stale)
        // Updates are complete when a later call is complete.
        _ = try await first.offline.assets()
        let second = try await launchAndPlay()
        #expect((second.report.failure as? DeviceError)?.kind == .superseded)
        #expect(try await second.offline.rejected(uri) == .fetchAgain)
        #expect(try await launchAndPlay().report.isRight)
        #expect(store.contents.count == before.count)
    }

    /// A stored key whose playback has started.
    private func persistable(_ uri: KeyURI) async throws -> Secret? {
        let other = MemoryKeyStore()
        let loader = try simulated.loader(
            .vuDRM, configuration: LoaderConfiguration(certificateFetch: .withFirstKey, keyStore: other))
        try await loader.offline?.register("movie", keys: [uri])
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: simulated.applicationSecret, vault: vault,
            resources: WebResources(transport: simulated.transport), timekeeper: time)
        _ = await player.key(uri, purpose: .persistable)
        return try await loader.offline?.storedKey(for: uri)
    }
}
