import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

/// Every vendor's service and the demo asset on a loopback host, with everything that the services saw.
struct LiveServices: Sendable {
    let host: ServiceHost
    let services: [RecordingService]
    let address: String
    let applicationSecret: Secret
    let log = LineLog()

    /// One RSA key for all tests: making one takes as long as many exchanges.
    private static let credentials = Result { try TestCredentials.make(bits: 1024) }

    /// - Parameters:
    ///   - keys: the content keys of the server; the demo asset's unless given.
    ///   - time: the services' clocks.
    ///   - configuration: port and TLS.
    init(
        keys: ContentKeyStore? = nil, time: any Timekeeper = SystemTimekeeper(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), special: SpecialService? = nil
    ) throws {
        let credentials = try Self.credentials.get()
        let module = KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation())
        let pool = WorkerPool(threads: 2)
        let authority = LicenseAuthority(module: module, keys: try keys ?? Self.demoKeys(), pool: pool)
        let log = log
        let special = special?.make(ServiceEnvironment(authority: authority, time: time) { log.add($0) })
        services = VendorServices.all(authority: authority, time: time) { log.add($0) }.map { service in
            special?.identifier == service.identifier ? special ?? RecordingService(service) : RecordingService(service)
        }
        applicationSecret = credentials.applicationSecret
        var patient = configuration
        patient.exchangeDeadline = .seconds(900)
        host = ServiceHost(
            services, media: MediaHost(folder: DemoAsset.folder), configuration: patient, pool: pool,
            log: { log.add($0) })
        let port = try host.start()
        address = "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(port)"
    }

    /// Runs a body with services that are stopped behind it.
    static func with<Value: Sendable>(
        keys: ContentKeyStore? = nil, time: any Timekeeper = SystemTimekeeper(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), special: SpecialService? = nil,
        _ body: (LiveServices) async throws -> Value
    ) async throws -> Value {
        let live = try LiveServices(keys: keys, time: time, configuration: configuration, special: special)
        let result: Result<Value, any Error>
        do { result = .success(try await body(live)) } catch { result = .failure(error) }
        await live.host.stop(within: .zero)
        return try result.get()
    }

    static func demoKeys() throws -> ContentKeyStore {
        try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
    }

    /// The demo asset's keys with every bit of each content key turned.
    static func wrongKeys() throws -> ContentKeyStore {
        ContentKeyStore(
            try demoKeys().keys.compactMap { stored in
                ContentKey(key: Secret(stored.content.key.revealed.map { ~$0 }), iv: stored.content.iv)
                    .map { StoredKey(uri: stored.uri, id: stored.id, content: $0) }
            })
    }

    static func writeCredentials(to folder: URL) throws {
        try credentials.get().write(to: folder)
    }
}

extension LiveServices {
    /// The service that a profile speaks to.
    func service(for profile: VendorProfile) -> RecordingService {
        let name = profile.identifier
        let candidates = services.filter { name == $0.identifier.rawValue || name.hasPrefix("\($0.identifier)-") }
        return candidates.max { $0.identifier.rawValue.count < $1.identifier.rawValue.count } ?? services[0]
    }

    /// A profile with the settings that its service asks for.
    func configured(_ profile: VendorProfile) -> VendorProfile {
        let service = service(for: profile)
        let names = profile.parameters.map(\.name)
        return service.parameters(at: "\(address)/\(service.identifier)").filter { names.contains($0.key) }
            .reduce(profile) { $0.setting($1.key, to: $1.value) }
    }

    /// A device's request for the demo asset's first key, its URI as a vendor's playlist has it.
    func request(
        for profile: VendorProfile, purpose: KeyPurpose = .streaming, onRenewal: (@Sendable () -> Void)? = nil,
        onEnd: @escaping @Sendable (ContentKeyError) -> Void = { _ in }
    ) throws -> DeviceRequest {
        let service = service(for: profile)
        let key = try #require(service.environment.authority.keys.keys.first)
        let host = address.split(separator: "://").last.map(String.init) ?? ""
        return DeviceRequest(
            KeyURI(service.keyURI(for: key, at: host)), purpose: purpose, applicationSecret: applicationSecret,
            onRenewal: onRenewal, onEnd: onEnd)
    }

    /// The address of an asset with key URIs that lead to a profile's service.
    func playlist(_ asset: DemoAsset, for profile: VendorProfile) -> String {
        "\(address)/media/\(service(for: profile).identifier)/\(asset.rawValue)/master.m3u8"
    }

    /// A loader for a profile; the certificate comes with the first key, so that requests can be counted.
    /// - Parameter settings: in place of what the service says.
    func loader(
        _ profile: VendorProfile, settings: [String: String] = [:], configuration: LoaderConfiguration? = nil,
        transport: any Transport = URLSessionTransport(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) -> ContentKeyLoader {
        let service = service(for: profile)
        return ContentKeyLoader(
            settings.reduce(configured(profile)) { $0.setting($1.key, to: $1.value) },
            credentials: Credentials { _ in CredentialSet(["token": service.issueToken()]) },
            configuration: configuration ?? .loopback, transport: transport, timekeeper: timekeeper)
    }

    func player(_ loader: ContentKeyLoader, timekeeper: any Timekeeper = SystemTimekeeper()) -> SimulatedPlayer {
        SimulatedPlayer(loader: loader, applicationSecret: applicationSecret, timekeeper: timekeeper)
    }
}

extension LoaderConfiguration {
    /// What a test with services on loopback needs, however busy the machine is.
    static let loopback = LoaderConfiguration(
        retry: RetryPolicy(attemptTimeout: .seconds(300), deadline: .seconds(900)),
        hosts: HostPolicy(loopback: .http), certificateFetch: .withFirstKey)
}

/// A service that is configured otherwise than usual, or whose app has other tokens.
struct SpecialService: Sendable {
    let make: @Sendable (ServiceEnvironment) -> RecordingService

    /// - Parameters:
    ///   - make: makes the service.
    ///   - configuration: its usual configuration.
    ///   - change: what is otherwise.
    ///   - token: makes the app's tokens; the service's own for demonstrations unless given.
    init<Service: VendorService, Configuration: Sendable>(
        _ make: @escaping @Sendable (ServiceEnvironment, Configuration) -> Service, _ configuration: Configuration,
        change: (inout Configuration) -> Void = { _ in }, token: (@Sendable (Service) -> Secret)? = nil
    ) {
        var configuration = configuration
        change(&configuration)
        self.make = { [configuration] environment in
            let service = make(environment, configuration)
            guard let token else { return RecordingService(service) }
            return RecordingService(service) { token(service) }
        }
    }

    /// A service as usual with other tokens.
    static func tokens<Service: VendorService, Configuration: Sendable>(
        of make: @escaping @Sendable (ServiceEnvironment, Configuration) -> Service, _ configuration: Configuration,
        token: @escaping @Sendable (Service) -> Secret
    ) -> SpecialService {
        SpecialService(make, configuration, token: token)
    }
}

/// Lines of a log.
final class LineLog: Sendable {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
