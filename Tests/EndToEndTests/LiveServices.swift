import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

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
        configuration: HTTPServerConfiguration = HTTPServerConfiguration()
    ) throws {
        let credentials = try Self.credentials.get()
        let module = KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation())
        let authority = LicenseAuthority(module: module, keys: try keys ?? Self.demoKeys())
        let log = log
        services = VendorServices.all(authority: authority, time: time) { log.add($0) }.map { RecordingService($0) }
        applicationSecret = credentials.applicationSecret
        host = ServiceHost(
            services, media: MediaHost(folder: DemoAsset.folder), configuration: configuration,
            log: { log.add($0) })
        let port = try host.start()
        address = "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(port)"
    }

    /// Runs a body with services that are stopped behind it.
    static func with<Value: Sendable>(
        keys: ContentKeyStore? = nil, time: any Timekeeper = SystemTimekeeper(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        _ body: (LiveServices) async throws -> Value
    ) async throws -> Value {
        let live = try LiveServices(keys: keys, time: time, configuration: configuration)
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

    /// The address of an asset with key URIs that lead to a profile's service.
    func playlist(_ asset: DemoAsset, for profile: VendorProfile) -> String {
        "\(address)/media/\(service(for: profile).identifier)/\(asset.rawValue)/master.m3u8"
    }

    /// A loader for a profile; the certificate comes with the first key, so that requests can be counted.
    func loader(
        _ profile: VendorProfile, configuration: LoaderConfiguration? = nil,
        transport: any Transport = URLSessionTransport(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) -> ContentKeyLoader {
        let service = service(for: profile)
        return ContentKeyLoader(
            configured(profile), credentials: Credentials { _ in CredentialSet(["token": service.issueToken()]) },
            configuration: configuration ?? .loopback, transport: transport, timekeeper: timekeeper)
    }

    func player(_ loader: ContentKeyLoader, timekeeper: any Timekeeper = SystemTimekeeper()) -> SimulatedPlayer {
        SimulatedPlayer(loader: loader, applicationSecret: applicationSecret, timekeeper: timekeeper)
    }
}

extension LoaderConfiguration {
    /// What a test with services on loopback needs.
    static let loopback = LoaderConfiguration(
        hosts: HostPolicy(loopback: .http), certificateFetch: .withFirstKey)
}

/// Lines of a log.
final class LineLog: Sendable {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
