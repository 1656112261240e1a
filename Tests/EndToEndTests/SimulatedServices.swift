import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

/// Every vendor's service in this process, without a socket, on the test's clock.
struct SimulatedServices: Sendable {
    static let credentials = Result { try TestCredentials.make(bits: 1024) }

    let authority: LicenseAuthority
    let services: [any VendorService]
    let transport: ServiceTransport
    let timekeeper: any Timekeeper
    let applicationSecret: Secret

    /// - Parameters:
    ///   - keys: the content keys of the server. Defaults to the demo asset's.
    ///   - policy: the terms if tokens state none.
    ///   - special: makes a service that replaces the usual one.
    init(
        keys: ContentKeyStore? = nil, policy: LicensePolicy = LicensePolicy(), timekeeper: any Timekeeper,
        faults: NetworkFaults = NetworkFaults(), hold: @escaping ServiceTransport.Hold = { {} },
        special: (ServiceEnvironment) -> (any VendorService)? = { _ in nil }
    ) throws {
        let credentials = try Self.credentials.get()
        let authority = LicenseAuthority(
            module: KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation()),
            keys: try keys ?? LiveServices.demoKeys(), policy: policy, pool: WorkerPool(threads: 2))
        let special = special(ServiceEnvironment(authority: authority, time: timekeeper))
        services = VendorServices.all(authority: authority, time: timekeeper).map { service in
            special.flatMap { $0.identifier == service.identifier ? $0 : nil } ?? service
        }
        self.authority = authority
        self.timekeeper = timekeeper
        applicationSecret = credentials.applicationSecret
        transport = ServiceTransport(
            services, media: MediaHost(folder: DemoAsset.folder), faults: faults, timekeeper: timekeeper, hold: hold)
    }

    /// The service of a profile.
    func service(for profile: VendorProfile) throws -> any VendorService {
        try #require(
            services.filter {
                profile.identifier == "\($0.identifier)" || profile.identifier.hasPrefix("\($0.identifier)-")
            }
            .max { "\($0.identifier)".count < "\($1.identifier)".count })
    }

    /// A loader for a profile, with a fresh token for each request and the service's own settings.
    func loader(
        _ profile: VendorProfile, configuration: LoaderConfiguration? = nil, seed: UInt64 = 1,
        token: (@Sendable () -> Secret)? = nil
    ) throws -> ContentKeyLoader {
        let service = try service(for: profile)
        let names = profile.parameters.map(\.name)
        let configured = service.parameters(at: transport.address(of: service), for: profile.identifier)
            .filter { names.contains($0.key) }.reduce(profile) { $0.setting($1.key, to: $1.value) }
        return ContentKeyLoader(
            configured.unchecked,
            credentials: Credentials { _ in CredentialSet(["token": token?() ?? service.demoToken()]) },
            configuration: configuration ?? LoaderConfiguration(certificateFetch: .withFirstKey), transport: transport,
            timekeeper: timekeeper, generator: Self.generators(seed))
    }

    /// Makes different generators, which are the same in each run.
    private static func generators(_ seed: UInt64) -> @Sendable () -> any RandomNumberGenerator {
        let base = Locked(SeededGenerator(seed: seed))
        return { SeededGenerator(seed: base.withLock { $0.next() }) }
    }

    /// The URI of a key in a profile's playlists.
    func keyURI(_ key: StoredKey, for profile: VendorProfile) throws -> KeyURI {
        KeyURI(try service(for: profile).keyURI(for: key, at: transport.host))
    }

    func player(_ loader: ContentKeyLoader) -> SimulatedPlayer {
        SimulatedPlayer(
            loader: loader, applicationSecret: applicationSecret, resources: WebResources(transport: transport),
            timekeeper: timekeeper)
    }
}
