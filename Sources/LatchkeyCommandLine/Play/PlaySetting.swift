import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// The setting of `latchkey play`: a stream, a vendor's license service, and a device.
struct PlaySetting: Sendable {
    /// The stream's playlist.
    let address: String
    let vendor: ConfiguredVendor
    let credentials: Credentials
    var configuration: LoaderConfiguration
    let transport: any Transport
    let applicationSecret: Secret
    /// The certificate that the secret belongs to; `nil` if unknown.
    let certificate: FairPlayCertificate?
    /// The device's identifier for key servers, 20 bytes; `nil` for the usual one.
    var deviceIdentifier: Secret?
    /// The hashes of the clear stream; `nil` if unknown.
    let reference: ReferenceHashes?
    /// The services in this process; `nil` if they run elsewhere.
    var bench: TestBench?
    /// Records the events; `nil` to record nothing.
    var recorder: TraceRecorder?
    /// Observes the delivery of playlists and media.
    let delivery = DeliveryWatch()

    /// - Parameters:
    ///   - transport: replaces the setting's own.
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
    ///   - vault: the device's own, if several players are one device.
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
    ///   - terms: the service's license terms.
    ///   - own: settings and credentials to try at the service in place of the built-in ones.
    static func builtIn(
        _ profile: VendorProfile, terms: LicenseTerms,
        own: (vendor: ConfiguredVendor, credentials: CredentialSet)? = nil, over transport: any Transport,
        completed: ([String: String]) throws -> ConfiguredVendor
    ) throws -> PlaySetting {
        let credentials = try TestCredentials.make(bits: 1024)
        let folder = try DemoAsset.located()
        let bench = try TestBench.start(
            credentials: [credentials.credential],
            keys: try ContentKeyStore(contentsOf: folder.appending(path: "keys.json")), media: folder,
            policy: LicensePolicy(standard: terms))
        guard let service = bench.service(forProfile: profile.identifier) else { throw noService(profile) }
        let mount = bench.mount(of: service)
        let settings = service.parameters(at: mount, for: profile.identifier)
        // With two keys, because some tokens cover only one.
        let row = own == nil ? 0 : DemoAsset.allCases.firstIndex(of: .twoKeys) ?? 0
        let asset = Demonstration.asset(for: profile, row: row)
        let given = own?.credentials ?? CredentialSet.none
        var hosts = HostPolicy(loopback: .http)
        hosts.allowed = [HostPolicy.Host(bench.authority)]
        return PlaySetting(
            address: bench.media("\(asset.rawValue)/master.m3u8", through: service),
            vendor: try own.map { own in
                try profile.configured(
                    own.vendor.profile.settings.reduce(into: [:]) {
                        $0[$1.key] = here($1.value, profile, mount) ?? settings[$1.key] ?? $1.value
                    })
            } ?? completed(settings),
            credentials: given.values.isEmpty
                ? Credentials { _ in CredentialSet(["token": service.demoToken()]) } : .fixed(given),
            configuration: LoaderConfiguration(hosts: hosts), transport: transport,
            applicationSecret: credentials.applicationSecret, certificate: credentials.credential.certificate,
            reference: try DemoAsset.reference(), bench: bench)
    }

    /// A setting's value for a service in this process: a vendor's address becomes the service's, with path and query unchanged.
    /// - Returns: `nil` for another address, such as a certificate's, which may be anywhere.
    private static func here(_ value: String, _ profile: VendorProfile, _ mount: String) -> String? {
        guard let url = URLComponents(string: value), ["http", "https"].contains(url.scheme?.lowercased()) else {
            return value
        }
        guard let host = url.host?.lowercased(), profile.isHome(host) else { return nil }
        return mount + url.percentEncodedPath + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    static func noService(_ profile: VendorProfile) -> UsageError {
        UsageError(
            "no service in this process goes with \(profile.identifier).",
            hint: "A profile of your own is named after its service: generic-acme, say. Or give PLAYLIST.")
    }
}
