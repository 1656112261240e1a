import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @_spi(Integrations) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A vendor whose licenses state terms, and whose raw requests go to the key's own host.
struct TermedVendor: VendorIntegration {
    var terms: LicenseTerms?
    var renewal = RenewalPolicy()

    let identifier = "termed"
    let configuredURLs = [URL(string: "https://keys.example.com")].compactMap(\.self)

    func bundledCertificate() throws -> ApplicationCertificate? {
        try ApplicationCertificate(SampleBytes.certificate)
    }

    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        _ = try await context.credentials()
        var request = URLRequest(url: try #require(configuredURLs.first))
        request.httpMethod = "POST"
        request.httpBody = spc.bytes.revealed
        return request
    }

    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        guard exchange.reply.status == 200 else { throw IntegrationError(.serverTransient, "The service is away.") }
        return License(ckc: Secret(exchange.reply.body), terms: terms)
    }
}

/// A loader whose licenses state terms, with a player that renews when asked to.
final class LeaseHarness: Sendable {
    static let key: KeyURI = "skd://keys.example.com/movie"

    let time: VirtualTime
    let transport: FakeTransport
    let credentials = CredentialLog()
    let loader: ContentKeyLoader
    /// All requests of the player, its renewals among them, in order.
    private let made = Locked<[FakeKeyRequest]>([])

    /// - Parameters:
    ///   - answer: the service's answer to the license request of a number, counted from 1.
    ///   - configure: changes the loader's configuration; without a change there is no jitter.
    private init(
        _ time: VirtualTime, _ vendor: TermedVendor,
        answer: @escaping @Sendable (_ number: Int) -> FakeTransport.Step,
        configure: (inout LoaderConfiguration) -> Void
    ) {
        self.time = time
        var configuration = LoaderConfiguration(retry: .never, leases: LeasePolicy(jitter: 0))
        configure(&configuration)
        transport = FakeTransport { _, number in answer(number) }
        loader = ContentKeyLoader(
            vendor, credentials: credentials.credentials,
            configuration: configuration, transport: transport, timekeeper: time,
            generator: { SeededGenerator(seed: 7) })
    }

    /// The player's requests so far.
    var requests: [FakeKeyRequest] { made.withLock { $0 } }

    /// A request of the player; it is repeated for each renewal unless it is set to stay away.
    func request(
        _ key: KeyURI = LeaseHarness.key, purpose: KeyPurpose = .streaming, player: PlayerID = .only,
        comes: Bool = true
    ) -> FakeKeyRequest {
        let request = FakeKeyRequest(
            key, purpose: purpose, player: player,
            renewing: { [weak self] request in
                guard comes, let self else { return true }
                loader.answer(self.request(request.keyURI, purpose: .renewal, player: request.player))
                return true
            })
        made.withLock { $0.append(request) }
        return request
    }

    /// Asks for a key and waits for the answer.
    @discardableResult
    func play(_ request: FakeKeyRequest? = nil) async -> (request: FakeKeyRequest, handle: KeyRequest) {
        let request = request ?? self.request()
        let handle = loader.answer(request)
        _ = await request.firstAnswer()
        return (request, handle)
    }

    /// Lets time pass, and then waits until all work that it started is done.
    func pass(_ time: Duration) async throws { try await self.time.sleep(for: time + .milliseconds(1)) }

    /// Whether no task waits for time to pass.
    func isQuiet() async -> Bool {
        try? await time.sleep(for: .milliseconds(1))
        return time.sleeperCount == 0
    }
}

extension LeaseHarness {
    /// Runs a test in virtual time.
    static func run(
        _ terms: LicenseTerms?, _ renewal: RenewalPolicy = RenewalPolicy(),
        answer: @escaping @Sendable (_ number: Int) -> FakeTransport.Step = { .ok(SampleBytes.ckc($0)) },
        configure: @escaping @Sendable (inout LoaderConfiguration) -> Void = { _ in },
        _ test: @escaping @Sendable (LeaseHarness) async throws -> Void
    ) async throws {
        let time = VirtualTime()
        try await time.run {
            let vendor = TermedVendor(terms: terms, renewal: renewal)
            try await test(LeaseHarness(time, vendor, answer: answer, configure: configure))
        }
    }
}
