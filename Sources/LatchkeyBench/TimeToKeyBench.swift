import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

/// The time from opening a stream to having its key, with a simulated round trip before every exchange.
struct TimeToKeyBench: Sendable {
    /// The order of the exchanges.
    enum Order: Sendable, CaseIterable {
        /// A new loader: the certificate arrives during the playlist request, then the license.
        case cold
        /// A loader that has its certificate: the playlist, then the license.
        case warm
        /// As in the vendors' sample code: certificate, playlist, variant, license, each waiting for the previous one.
        case samples
        /// Like `cold`, and the app fetches each token over the same round trip.
        case fetchedTokens
        /// Like `fetchedTokens`, after a preload for a player that makes its SPC when it plays.
        case preloaded
        /// Like `fetchedTokens`, after a preload into a player that holds the keys.
        case preloadedIntoPlayer
    }

    private let bench: TestBench
    private let vendor: ConfiguredVendor
    private let service: any VendorService
    private let applicationSecret: Secret
    private let transport: any Transport
    private let roundTrip: Duration
    private let timekeeper: any Timekeeper
    private let master: String
    private let variant: String

    /// Starts the services.
    /// - Parameters:
    ///   - roundTrip: the minimum duration of each exchange.
    ///   - timekeeper: waits.
    init(roundTrip: Duration, timekeeper: any Timekeeper = SystemTimekeeper()) throws {
        let credentials = try TestCredentials.make(bits: 2048)
        applicationSecret = credentials.applicationSecret
        bench = try TestBench.start(
            credentials: [credentials.credential], keys: DemoAsset.keys(), media: DemoAsset.located())
        let profile = VendorProfile.vuDRM
        guard let service = bench.service(forProfile: profile.identifier) else {
            throw Diagnosis.loadFailed("no service")
        }
        let parameters = service.parameters(at: bench.mount(of: service))
        vendor = try profile.configured(
            parameters.filter { setting in profile.parameters.contains { $0.name == setting.key } })
        self.service = service
        self.roundTrip = roundTrip
        self.timekeeper = timekeeper
        transport = DelayedTransport(roundTrip: roundTrip, transport: SystemTransport(), timekeeper: timekeeper)
        let folder = DemoAsset.transportStream.rawValue
        master = bench.media("\(folder)/master.m3u8", through: service)
        variant = bench.media("\(folder)/video.m3u8", through: service)
    }

    /// Ends the services.
    func stop() async { await bench.host.stop(within: .seconds(2)) }

    /// Seconds from opening the stream to having its key.
    /// - Throws: the error that prevented the key.
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
        case .fetchedTokens:
            return try await Stopwatch.wallTime { try await key(of: master, loader(.atOnce, tokenDelay: roundTrip)) }
        case .preloaded:
            let loader = loader(.withFirstKey, tokenDelay: roundTrip)
            try check(await loader.preload(address))
            return try await Stopwatch.wallTime { try await key(of: master, loader) }
        case .preloadedIntoPlayer:
            let loader = loader(.withFirstKey, tokenDelay: roundTrip)
            let player = player(loader)
            try check(await loader.preload(address, into: player))
            return try await Stopwatch.wallTime { try await key(of: master, player) }
        }
    }

    private var address: URL { URL(string: master) ?? URL(filePath: master) }

    private func check(_ result: PreloadResult) throws {
        guard result.keys.count == 1, result.unread.isEmpty else {
            throw Diagnosis.loadFailed("the preload found no key")
        }
    }

    private func loader(
        _ fetch: LoaderConfiguration.CertificateFetch, tokenDelay: Duration = .zero
    ) -> ContentKeyLoader {
        ContentKeyLoader(
            vendor,
            credentials: Credentials { [timekeeper, service] _ in
                if tokenDelay > .zero { try await timekeeper.sleep(for: tokenDelay) }
                return CredentialSet(["token": service.demoToken()])
            },
            configuration: LoaderConfiguration(
                hosts: HostPolicy(loopback: .http), certificateFetch: fetch, preparedCredentialsLifetime: .seconds(20)),
            transport: transport)
    }

    private func player(_ loader: ContentKeyLoader) -> SimulatedPlayer {
        SimulatedPlayer(
            loader: loader, applicationSecret: applicationSecret, resources: WebResources(transport: transport))
    }

    private func key(of address: String, _ loader: ContentKeyLoader) async throws {
        try await key(of: address, player(loader))
    }

    private func key(of address: String, _ player: SimulatedPlayer) async throws {
        let report = try await player.keys(of: address)
        if let failure = report.failure { throw failure }
        guard report.keys.count == 1 else { throw Diagnosis.loadFailed("the stream has \(report.keys.count) keys") }
    }
}
