import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyVendors

/// What `latchkey play` plays, and with what: a stream, a vendor's license service, and a device.
struct PlaySetting: Sendable {
    /// The stream's playlist.
    let address: String
    let vendor: ConfiguredVendor
    let credentials: Credentials
    var configuration: LoaderConfiguration
    let transport: any Transport
    let applicationSecret: Secret
    /// What the secret belongs to; `nil` if unknown.
    let certificate: FairPlayCertificate?
    /// What the device calls itself to key servers, 20 bytes; `nil` for the usual one.
    var deviceIdentifier: Secret?
    /// The hashes of the clear stream; `nil` if unknown.
    let reference: ReferenceHashes?
    /// The services in this process; `nil` if they run elsewhere.
    var bench: TestBench?
    /// Records what happens; `nil` if nobody wants to know.
    var recorder: TraceRecorder?
    /// Learns how playlists and media come.
    let delivery = DeliveryWatch()

    /// - Parameters:
    ///   - transport: in place of the setting's own.
    ///   - store: keeps keys that play without a network.
    func loader(over transport: (any Transport)? = nil, storing store: (any PersistableKeyStore)? = nil)
        -> ContentKeyLoader
    {
        var configuration = configuration
        configuration.keyStore = store
        configuration = recorder?.observing(configuration) ?? configuration
        return ContentKeyLoader(
            vendor, credentials: credentials, configuration: configuration, transport: transport ?? self.transport)
    }

    /// - Parameters:
    ///   - vault: the device's own, where several players are one device.
    ///   - resources: carries the requests for playlists and media, in place of the setting's own transport.
    func player(
        _ loader: ContentKeyLoader, vault: KeyVault? = nil, resources: (any Transport)? = nil
    ) -> SimulatedPlayer {
        let transport = resources ?? self.transport
        return SimulatedPlayer(
            loader: loader, applicationSecret: applicationSecret, certificate: certificate,
            deviceIdentifier: deviceIdentifier ?? SimulatedDevice.standardIdentifier, vault: vault,
            resources: WebResources(transport: recorder?.watching(transport) ?? transport, watch: delivery))
    }

    /// Stops the services in this process.
    func close() async { await bench?.host.stop(within: .zero) }
}

extension PlaySetting {
    /// The demo stream at a vendor's emulated service in this process.
    /// - Parameters:
    ///   - profile: the vendor.
    ///   - completed: the vendor's profile with the settings of the service.
    ///   - terms: what the service licenses keys on.
    static func builtIn(
        _ profile: VendorProfile, terms: LicenseTerms, over transport: any Transport,
        completed: ([String: String]) throws -> ConfiguredVendor
    ) throws -> PlaySetting {
        let credentials = try TestCredentials.make(bits: 1024)
        let folder = try DemoAsset.located()
        let bench = try TestBench.start(
            credentials: [credentials.credential],
            keys: try ContentKeyStore(contentsOf: folder.appending(path: "keys.json")), media: folder,
            policy: LicensePolicy(standard: terms))
        guard let service = bench.service(forProfile: profile.identifier) else { throw noService(profile) }
        let settings = service.parameters(at: bench.mount(of: service), for: profile.identifier)
        let asset = Demonstration.asset(for: profile, row: 0)
        var hosts = HostPolicy(loopback: .http)
        hosts.allowed = [HostPolicy.Host(bench.authority)]
        return PlaySetting(
            address: bench.media("\(asset.rawValue)/master.m3u8", through: service),
            vendor: try completed(settings),
            credentials: Credentials { _ in CredentialSet(["token": service.demoToken()]) },
            configuration: LoaderConfiguration(hosts: hosts), transport: transport,
            applicationSecret: credentials.applicationSecret, certificate: credentials.credential.certificate,
            reference: try DemoAsset.reference(), bench: bench)
    }

    static func noService(_ profile: VendorProfile) -> UsageError {
        UsageError(
            "no service in this process goes with \(profile.identifier).",
            hint: "A profile of your own is named after its service: generic-acme, say. Or give PLAYLIST.")
    }
}
