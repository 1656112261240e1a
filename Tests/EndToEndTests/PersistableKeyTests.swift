import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDecision
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// Persistent licenses, from a vendor's token to the key that the device keeps.
@Suite(.timeLimit(.minutes(5))) struct PersistableKeyTests {
    private let time = ManualTimekeeper()

    struct Grant: Sendable, CustomTestStringConvertible {
        let profile: VendorProfile
        let validity: LicenseTerms.Validity
        let token: @Sendable (any VendorService) -> Secret?

        var testDescription: String { profile.identifier }
    }

    private static let dual = LicenseTerms.Validity.dualExpiry(storage: .seconds(86_400), playback: .seconds(3_600))

    static let grants = [
        Grant(profile: .vuDRM, validity: .persistentFor(.seconds(86_400))) {
            ($0 as? VuDRMService)?.token(policy: ["type": "p", "duration_persist": "86400"])
        },
        Grant(profile: .cloudDRM, validity: dual) {
            ($0 as? CloudDRMService)?.token(
                claims:
                    #"{"kid":["*"],"persistent":true,"fairplay":{"storage_duration":86400,"playback_duration":3600}}"#)
        },
        Grant(profile: .mux, validity: dual) {
            ($0 as? MuxService)?.token(claims: #"{"offline":true,"licenseExpiration":86400,"playDuration":3600}"#)
        },
        Grant(profile: .doveRunner, validity: dual) {
            let policy = #"{"persistent":true,"rental_duration":86400,"playback_duration":3600}"#
            return ($0 as? DoveRunnerService)?.token(
                claims: #"{"policy":"\#(Data(policy.utf8).base64EncodedString())"}"#)
        },
        Grant(profile: .nagra, validity: .persistentFor(.seconds(86_400))) {
            ($0 as? NAGRAService)?.contentToken(
                claims: #"{"contentRights":[{"contentId":"latchkey-demo","storable":true,"duration":86400}]}"#)
        },
        Grant(profile: .drmToday, validity: .persistent) { ($0 as? DRMtodayService)?.token() },
    ]

    @Test(arguments: grants)
    func `a token that permits storage gives a key that the device stores`(_ grant: Grant) async throws {
        let simulated = try SimulatedServices(timekeeper: time)
        let service = try simulated.service(for: grant.profile)
        let loader = try simulated.loader(grant.profile) { grant.token(service) ?? Secret("") }
        let key = try #require(simulated.authority.keys.keys.first)
        let vault = KeyVault(timekeeper: time)
        let stored = try await persistableKey(key, simulated, loader, grant.profile, vault)

        let opened = try vault.open(stored)
        #expect(opened.contentKey == key.content)
        #expect(opened.terms.validity == grant.validity)
        #expect(service.warnings.isEmpty)
    }

    @Test func `a streaming license cannot be stored`() async throws {
        let simulated = try SimulatedServices(timekeeper: time)
        let loader = try simulated.loader(.cloudDRM)
        let key = try #require(simulated.authority.keys.keys.first)
        let rejection = await #expect(throws: DeviceError.self) {
            try await persistableKey(key, simulated, loader, .cloudDRM, KeyVault(timekeeper: time))
        }
        #expect(rejection?.kind == .notPersistable)
    }

    @Test func `stored keys play every frame, without a request`() async throws {
        let policy = LicensePolicy(standard: LicenseTerms(Self.dual))
        let simulated = try SimulatedServices(policy: policy, timekeeper: time)
        let loader = try simulated.loader(.vuDRM)
        let vault = KeyVault(timekeeper: time)
        var stored: [KeyURI: Data] = [:]
        for key in simulated.authority.keys.keys {
            stored[try simulated.keyURI(key, for: .vuDRM)] = try await persistableKey(
                key, simulated, loader, .vuDRM, vault)
        }
        let licenses = simulated.transport.journal.count
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: simulated.applicationSecret, vault: vault,
            resources: WebResources(transport: simulated.transport), timekeeper: time)
        let address = "https://services.test/media/vudrm/two-keys/master.m3u8"
        let report = try await player.play(
            address, persistableKeys: stored, with: FFmpeg(), reference: try DemoAsset.reference())
        #expect(report.isRight)
        #expect(report.keys.allSatisfy { $0.replacement != nil })
        #expect(!simulated.transport.journal.dropFirst(licenses).contains { $0.method == "POST" })

        // The playback windows have begun: the old stored keys are invalid, and their replacements are valid.
        let again = try await player.play(address, persistableKeys: stored, with: FFmpeg())
        #expect((again.failure as? DeviceError)?.kind == .superseded)
        for key in report.keys { stored[key.uri] = key.replacement }
        #expect(try await player.play(address, persistableKeys: stored, with: FFmpeg()).failure == nil)
        time.advance(by: .seconds(3_600))
        let late = try await player.play(address, persistableKeys: stored, with: FFmpeg())
        #expect((late.failure as? DeviceError)?.kind == .expired)
    }

    /// The steps for a persistable key, as in a player's own SDK.
    private func persistableKey(
        _ key: StoredKey, _ simulated: SimulatedServices, _ loader: ContentKeyLoader, _ profile: VendorProfile,
        _ vault: KeyVault
    ) async throws -> Data {
        let uri = try simulated.keyURI(key, for: profile)
        let certificate = try await loader.applicationCertificate().bytes
        let device = try SimulatedDevice(
            certificate: FairPlayCertificate(certificate),
            applicationSecret: simulated.applicationSecret, timekeeper: time)
        var generator = SystemRandomNumberGenerator()
        let exchange = try device.exchange(
            for: loader.contentIdentifier(for: uri), options: .storing, using: &generator)
        let license = try await loader.license(
            for: SPCMessage(exchange.spc.revealed), key: uri, purpose: .persistable)
        return try vault.persistableKey(from: license.ckc.revealed, of: exchange)
    }
}
