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

/// Every vendor's service and the demo asset on a loopback host. Records everything that the services receive.
struct LiveServices: Sendable {
    let host: ServiceHost
    let services: [RecordingService]
    let address: String
    let applicationSecret: Secret
    let log = LineLog()

    /// The rules of one token for one license: the tool has one token for all keys.
    static let lenient: Set = ["vudrm/tokenOnce", "drmtoday/tokenOnce"]
    /// All tests share one RSA key, because making one is slow.
    private static let credentials = Result { try TestCredentials.make(bits: 1024) }

    /// - Parameters:
    ///   - keys: the content keys of the server. Defaults to the demo asset's.
    ///   - media: the folder of media. Defaults to the demo asset's.
    ///   - time: the services' clocks.
    ///   - configuration: the port and TLS.
    ///   - lenient: the rules that may be broken. Defaults to `lenient`.
    init(
        keys: ContentKeyStore? = nil, media: URL = DemoAsset.folder, time: any Timekeeper = SystemTimekeeper(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), special: SpecialService? = nil,
        lenient: Set<String> = lenient
    ) throws {
        let credentials = try Self.credentials.get()
        let module = KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation())
        let pool = WorkerPool(threads: 2)
        let authority = LicenseAuthority(module: module, keys: try keys ?? Self.demoKeys(), pool: pool)
        let log = log
        let special = special?.make(ServiceEnvironment(authority: authority, time: time) { log.add($0) })
        // A busy machine is slow from a token to its license.
        services = VendorServices.all(
            authority: authority, time: time, tokenLifetime: .seconds(900), lenient: lenient, log: { log.add($0) }
        ).map { service in
            special?.identifier == service.identifier ? special ?? RecordingService(service) : RecordingService(service)
        }
        applicationSecret = credentials.applicationSecret
        var patient = configuration
        patient.exchangeDeadline = .seconds(900)
        host = ServiceHost(
            services, media: MediaHost(folder: media),
            front: { [services] request in
                let service = services.first { request.path == "/tokens/\($0.identifier)" }
                return service.map { .text($0.issueToken().revealedText) }
            }, configuration: patient, pool: pool, log: { log.add($0) })
        let port = try host.start()
        address = "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(port)"
    }

    /// Runs a closure with services, and stops them afterwards.
    static func with<Value: Sendable>(
        keys: ContentKeyStore? = nil, media: URL = DemoAsset.folder, time: any Timekeeper = SystemTimekeeper(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), special: SpecialService? = nil,
        lenient: Set<String> = lenient, _ body: (LiveServices) async throws -> Value
    ) async throws -> Value {
        let live = try LiveServices(
            keys: keys, media: media, time: time, configuration: configuration, special: special, lenient: lenient)
        let result: Result<Value, any Error>
        do { result = .success(try await body(live)) } catch { result = .failure(error) }
        await live.host.stop(within: .zero)
        return try result.get()
    }

    static func demoKeys() throws -> ContentKeyStore {
        try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
    }

    /// The demo asset's keys, with every bit of each content key inverted.
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
    /// The service of a profile.
    func service(for profile: VendorProfile) -> RecordingService {
        let name = profile.identifier
        let candidates = services.filter { name == $0.identifier.rawValue || name.hasPrefix("\($0.identifier)-") }
        return candidates.max { $0.identifier.rawValue.count < $1.identifier.rawValue.count } ?? services[0]
    }

    /// The tool's setting for a new token each time.
    func tokens(for profile: VendorProfile) -> String { "@\(address)/tokens/\(service(for: profile).identifier)" }

    /// A profile with the settings that its service needs.
    func configured(_ profile: VendorProfile) -> VendorProfile {
        let service = service(for: profile)
        let names = profile.parameters.map(\.name)
        return service.parameters(at: "\(address)/\(service.identifier)", for: profile.identifier)
            .filter { names.contains($0.key) }.reduce(profile) { $0.setting($1.key, to: $1.value) }
    }

    /// A device's request for the demo asset's first key, with the key URI of a vendor's playlist.
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

    /// The address of a playlist in the folder of media.
    func playlist(_ path: String, for profile: VendorProfile) -> String {
        "\(address)/media/\(service(for: profile).identifier)/\(path)"
    }

    /// A loader for a profile. It loads the certificate with the first key, so that requests can be counted.
    /// - Parameter settings: settings that replace the service's; `nil` removes one.
    func loader(
        _ profile: VendorProfile, settings: [String: String?] = [:], configuration: LoaderConfiguration? = nil,
        transport: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) -> ContentKeyLoader {
        let service = service(for: profile)
        return ContentKeyLoader(
            settings.reduce(configured(profile)) { $0.setting($1.key, to: $1.value) }.unchecked,
            credentials: Credentials { _ in CredentialSet(["token": service.issueToken()]) },
            configuration: configuration ?? .loopback, transport: transport, timekeeper: timekeeper)
    }

    func player(_ loader: ContentKeyLoader, timekeeper: any Timekeeper = SystemTimekeeper()) -> SimulatedPlayer {
        SimulatedPlayer(loader: loader, applicationSecret: applicationSecret, timekeeper: timekeeper)
    }
}

extension LoaderConfiguration {
    /// Limits for tests with services on loopback, suitable for a busy machine.
    static let loopback = LoaderConfiguration(
        retry: RetryPolicy(attemptTimeout: .seconds(300), deadline: .seconds(900)),
        hosts: HostPolicy(loopback: .http), certificateFetch: .withFirstKey)
}

/// A service with an unusual configuration, or with other tokens for its app.
struct SpecialService: Sendable {
    let make: @Sendable (ServiceEnvironment) -> RecordingService

    /// - Parameters:
    ///   - make: makes the usual service.
    ///   - change: changes its configuration. Defaults to nothing.
    ///   - token: makes the app's tokens. Defaults to the service's own for demonstrations.
    init<Service: VendorService>(
        _ make: @escaping @Sendable (ServiceEnvironment) -> Service,
        change: @escaping @Sendable (inout Service) -> Void = { _ in }, token: (@Sendable (Service) -> Secret)? = nil
    ) {
        self.make = { environment in
            var service = make(environment)
            change(&service)
            guard let token else { return RecordingService(service) }
            return RecordingService(service) { [service] in token(service) }
        }
    }

    /// A usual service with other tokens.
    static func tokens<Service: VendorService>(
        of make: @escaping @Sendable (ServiceEnvironment) -> Service, token: @escaping @Sendable (Service) -> Secret
    ) -> SpecialService {
        SpecialService(make, token: token)
    }
}

/// Lines of a log.
final class LineLog: Sendable {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
