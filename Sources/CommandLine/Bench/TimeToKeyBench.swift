import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

/// From opening a stream to having its key, with a simulated round trip before every exchange.
struct TimeToKeyBench: Sendable {
    /// In which order things are fetched.
    enum Order: Sendable, CaseIterable {
        /// A new loader: the certificate comes along while the playlist does, then the license.
        case cold
        /// A loader that has its certificate: the playlist, then the license.
        case warm
        /// As the vendors' sample code does it: certificate, playlist, variant, license, each waiting for the last.
        case samples
    }

    private let bench: TestBench
    private let profile: VendorProfile
    private let token: Secret
    private let applicationSecret: Secret
    private let transport: any Transport
    private let master: String
    private let variant: String

    /// Starts the services.
    /// - Parameters:
    ///   - roundTrip: how long each exchange takes at the least.
    ///   - timekeeper: waits.
    init(roundTrip: Duration, timekeeper: any Timekeeper = SystemTimekeeper()) throws {
        let credentials = try TestCredentials.make(bits: 2048)
        applicationSecret = credentials.applicationSecret
        let keys = try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
        bench = try TestBench.start(credentials: [credentials.credential], keys: keys, media: DemoAsset.folder)
        let vendor = VendorProfile.vuDRM
        guard let service = bench.service(forProfile: vendor.identifier) else { throw BenchError.load("no service") }
        let parameters = service.parameters(at: bench.mount(of: service))
        profile = vendor.with(parameters.filter { setting in vendor.parameters.contains { $0.name == setting.key } })
        token = service.demoToken()
        transport = DelayedTransport(roundTrip: roundTrip, transport: URLSessionTransport(), timekeeper: timekeeper)
        let folder = DemoAsset.transportStream.rawValue
        master = bench.media("\(folder)/master.m3u8", through: service)
        variant = bench.media("\(folder)/video.m3u8", through: service)
    }

    /// Ends the services.
    func stop() async { await bench.host.stop(within: .seconds(2)) }

    /// Seconds from opening the stream to having its key.
    /// - Throws: what kept the key from coming.
    func time(_ order: Order) async throws -> Double {
        switch order {
        case .cold:
            return try await Stopwatch.wallTime { try await key(of: master, loader(.atOnce)) }
        case .warm:
            let loader = loader(.atOnce)
            _ = try await loader.applicationCertificate()
            return try await Stopwatch.wallTime { try await key(of: master, loader) }
        case .samples:
            return try await Stopwatch.wallTime {
                let loader = loader(.withFirstKey)
                _ = try await loader.applicationCertificate()
                _ = try await WebResources(transport: transport).playlist(at: master)
                try await key(of: variant, loader)
            }
        }
    }

    private func loader(_ fetch: LoaderConfiguration.CertificateFetch) -> ContentKeyLoader {
        ContentKeyLoader(
            profile, credentials: Credentials { _ in CredentialSet(["token": token]) },
            configuration: LoaderConfiguration(hosts: HostPolicy(loopback: .http), certificateFetch: fetch),
            transport: transport)
    }

    private func key(of address: String, _ loader: ContentKeyLoader) async throws {
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: applicationSecret, resources: WebResources(transport: transport))
        let report = try await player.keys(of: address)
        if let failure = report.failure { throw failure }
        guard report.keys.count == 1 else { throw BenchError.load("the stream has \(report.keys.count) keys") }
    }
}
