import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine

/// The stage of a player adapter: every vendor's service and the demo asset on a loopback host, a stage for the player's
/// stand-in whose device knows the services' certificate, and one clock for all, which stands still.
struct PlayerStage: Sendable {
    let stage: StandInStage
    let time: ManualTimekeeper
    let services: [WatchedService]
    /// `http://127.0.0.1:…`
    let address: String
    private let host: ServiceHost

    /// One RSA key for all tests: making one takes as long as many exchanges.
    private static let credentials = Result {
        let credentials = try TestCredentials.make(bits: 1024)
        StandInHardware.register(credentials)
        return credentials
    }

    /// Most tests play one of a few streams: its media is decoded for the first, and compared for all.
    private static let decodings = DecodingMemory()

    var log: StandInLog { stage.log }

    /// Runs a body on a separate stage, and stops the stage's host after it.
    /// - Parameters:
    ///   - behavior: How the player behaves.
    ///   - terms: The terms of every license whose token does not state others.
    ///   - special: Returns a service that replaces the usual one of its name.
    static func with<Value: Sendable>(
        _ behavior: StandInBehavior = StandInBehavior(), terms: LicenseTerms = LicenseTerms(),
        special: (ServiceEnvironment) -> (any VendorService)? = { _ in nil },
        isolation: isolated (any Actor)? = #isolation, _ body: (PlayerStage) async throws -> Value
    ) async throws -> Value {
        let stage = try PlayerStage(behavior, terms, special)
        let result: Result<Value, any Error>
        do { result = .success(try await stage.stage.run { try await body(stage) }) } catch {
            result = .failure(error)
        }
        await stage.host.stop(within: .zero)
        return try result.get()
    }

    private init(
        _ behavior: StandInBehavior, _ terms: LicenseTerms, _ special: (ServiceEnvironment) -> (any VendorService)?
    ) throws {
        let credentials = try Self.credentials.get()
        let time = ManualTimekeeper()
        let pool = WorkerPool(threads: 2)
        let authority = LicenseAuthority(
            module: KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation()),
            keys: try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json")),
            policy: LicensePolicy(standard: terms), pool: pool)
        let other = special(ServiceEnvironment(authority: authority, time: time))
        services = VendorServices.all(authority: authority, time: time).map { service in
            WatchedService(other?.identifier == service.identifier ? other ?? service : service)
        }
        var patient = HTTPServerConfiguration()
        patient.exchangeDeadline = .seconds(900)
        host = ServiceHost(
            services, media: MediaHost(folder: DemoAsset.folder), configuration: patient, pool: pool, log: { _ in })
        address = "http://127.0.0.1:\(try host.start())"
        stage = StandInStage(
            behavior, timekeeper: time, reference: try DemoAsset.reference(), decodings: Self.decodings,
            callbackLimit: .seconds(60))
        self.time = time
    }
}

extension PlayerStage {
    /// The service that a profile speaks to.
    func service(for profile: VendorProfile) -> WatchedService {
        let name = profile.identifier
        let candidates = services.filter { name == $0.identifier.rawValue || name.hasPrefix("\($0.identifier)-") }
        return candidates.max { $0.identifier.rawValue.count < $1.identifier.rawValue.count } ?? services[0]
    }

    /// The address of an asset with key URIs that lead to a profile's service.
    func playlist(_ asset: DemoAsset = .transportStream, for profile: VendorProfile = .vuDRM) -> URL {
        URL(string: "\(address)/media/\(service(for: profile).identifier)/\(asset.rawValue)/master.m3u8")
            ?? DemoAsset.folder
    }

    /// The URI of one of the demo asset's keys, as a profile's playlist has it.
    func key(_ index: Int = 0, for profile: VendorProfile = .vuDRM) -> KeyURI {
        let service = service(for: profile)
        let host = address.split(separator: "://").last.map(String.init) ?? ""
        return KeyURI(service.keyURI(for: service.environment.authority.keys.keys[index], at: host))
    }

    /// The keys of one of the demo asset's streams, as a profile's playlists name them.
    func keys(of asset: DemoAsset, for profile: VendorProfile = .vuDRM) async throws -> Set<KeyURI> {
        let found = Locked<Set<KeyURI>>([])
        _ = try await StandInPlayback(on: stage).load(playlist(asset, for: profile).absoluteString) { uris in
            found.withLock { $0.formUnion(uris) }
        }
        return found.withLock { $0 }
    }

    /// A loader for a profile; the certificate is fetched with the first key, so that requests can be counted.
    /// - Parameters:
    ///   - store: The store of keys. Defaults to none.
    ///   - deadline: How long a key may take, by the stage's clock.
    ///   - lease: How long keys live if the vendor's replies do not say.
    ///   - asking: called with each request for credentials. Defaults to nothing.
    ///   - object: an object that the loader holds for as long as it lives.
    func loader(
        _ profile: VendorProfile = .vuDRM, store: (any PersistableKeyStore)? = nil,
        deadline: Duration = .seconds(900), lease: Duration? = nil,
        asking: @escaping @Sendable (Credentials.Request) -> Void = { _ in }, holding object: (any Sendable)? = nil
    ) -> ContentKeyLoader {
        let service = service(for: profile)
        return ContentKeyLoader(
            configured(profile).unchecked,
            credentials: Credentials { request in
                asking(request)
                return withExtendedLifetime(object) { CredentialSet(["token": service.issue(nil)]) }
            },
            configuration: LoaderConfiguration(
                retry: RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(300), deadline: deadline),
                hosts: HostPolicy(loopback: .http), leases: LeasePolicy(jitter: 0, assumedLease: lease),
                certificateFetch: .withFirstKey, keyStore: store),
            timekeeper: time)
    }

    /// A profile with the settings of its service.
    /// - Parameter isWanted: Chooses settings. Defaults to all.
    func configured(_ profile: VendorProfile, where isWanted: (String) -> Bool = { _ in true }) -> VendorProfile {
        let service = service(for: profile)
        let names = Set(profile.parameters.map(\.name).filter(isWanted))
        return service.parameters(at: "\(address)/\(service.identifier)", for: profile.identifier)
            .filter { names.contains($0.key) }.reduce(profile) { $0.setting($1.key, to: $1.value) }
    }

    /// The secrets of the services that a text shows, raw, in base64 or in hexadecimal.
    func secrets(in text: String) -> [Secret] {
        services.flatMap(\.secrets).filter { secret in
            let forms = [String(decoding: secret, as: UTF8.self), secret.base64EncodedString(), secret.hexString]
            return forms.contains { text.contains($0) }
        }.map { Secret($0) }
    }
}
