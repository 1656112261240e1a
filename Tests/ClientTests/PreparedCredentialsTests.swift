import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Credentials that a preload fetches ahead are used once, and only while they are valid.
@Suite(.timeLimit(.minutes(5))) struct PreparedCredentialsTests {
    private static let playlist = FakeTransport.Step.ok(PreloadStream.media([PreloadStream.session]))

    private func harness(license: [FakeTransport.Step] = [.ckc], lifetime: Duration = .seconds(20)) -> Harness {
        let count = Locked(0)
        return Harness(
            over: PreloadStream.transport(["master.m3u8": Self.playlist]) { _, _ in
                let index = count.withLock { count in
                    count += 1
                    return count - 1
                }
                return license.indices.contains(index) ? license[index] : license.last ?? .ckc
            }
        ) { $0.preparedCredentialsLifetime = lifetime }
    }

    private func sent(_ harness: Harness) -> [String?] {
        harness.posts.map { $0.value(forHTTPHeaderField: "x-vudrm-token")?.split(separator: "-").last.map(String.init) }
    }

    @Test func `credentials requested ahead serve one license request, then new ones do`() async {
        let harness = harness()
        let result = await harness.loader.preload(PreloadStream.address)
        #expect(result.first == ["prepared", "notNeeded", "prepared", "prepared", "noPlayer"])
        #expect(harness.credentials.reasons == [.first])
        let events = harness.loader.events()
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session))
        #expect(harness.credentials.reasons.count == 1)
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session))
        #expect(sent(harness) == ["1", "2"])
        let told = await events.untilAnswered(2).compactMap { event in
            if case .prepared(.credentials, let saved) = event.kind { (event.exchange, saved) } else { nil }
        }
        #expect(told.map(\.0) == [1] && told.map(\.1) == [.zero])
    }

    @Test(arguments: [(19, ["1"]), (20, ["2"])])
    func `credentials that waited too long are dropped`(_ seconds: Int, _ tokens: [String]) async {
        let harness = harness()
        _ = await harness.loader.preload(PreloadStream.address)
        harness.clock.advance(by: .seconds(seconds))
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session))
        #expect(sent(harness) == tokens)
    }

    @Test func `prepared credentials that the service rejects are replaced`() async {
        let harness = harness(license: [.status(403), .ckc])
        _ = await harness.loader.preload(PreloadStream.address)
        #expect(await harness.answer(FakeKeyRequest(PreloadStream.session)).ckc == SampleBytes.ckc())
        #expect(harness.credentials.reasons == [.first, .rejected])
    }

    @Test func `a renewal takes no credentials requested for a first license`() async {
        let harness = harness()
        _ = await harness.loader.preload(PreloadStream.address)
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session, purpose: .renewal))
        #expect(harness.credentials.reasons == [.first, .renewal])
    }

    @Test func `without a lifetime from the app, none are requested ahead`() async {
        let harness = harness(lifetime: .zero)
        #expect(await harness.loader.preload(PreloadStream.address).words(.credentials) == ["notConfigured"])
        #expect(harness.credentials.reasons.isEmpty)
    }

    @Test func `missing credentials fail on their own`() async {
        struct NoToken: Error {}
        let harness = Harness(
            over: PreloadStream.transport(["master.m3u8": Self.playlist]),
            credentials: Credentials { _ in throw NoToken() }
        ) { $0.preparedCredentialsLifetime = .seconds(20) }
        let result = await harness.loader.preload(PreloadStream.address)
        #expect(result.first == ["prepared", "notNeeded", "prepared", "credentialsFailed", "noPlayer"])
    }

    @Test(arguments: [(Duration.seconds(20), "prepared", 1), (.zero, "notConfigured", 1)])
    func `a lookup for a key is done ahead and serves one license`(
        _ lifetime: Duration, _ outcome: String, _ lookups: Int
    ) async {
        let transport = PreloadStream.transport(["master.m3u8": Self.playlist])
        let harness = Harness(Entitled(), over: transport) { $0.preparedCredentialsLifetime = lifetime }
        #expect(await harness.loader.preload(PreloadStream.address).words(.lookup) == [outcome])
        #expect(await harness.answer(FakeKeyRequest(PreloadStream.session)).ckc == SampleBytes.ckc())
        #expect(transport.requests.count { $0.url?.path == "/entitlement" } == lookups)
        #expect(await harness.answer(FakeKeyRequest(PreloadStream.session)).ckc == SampleBytes.ckc())
        #expect(transport.requests.count { $0.url?.path == "/entitlement" } == lookups + 1)
    }
}

/// Asks for an entitlement before each license; the license request goes to the address in the entitlement.
private struct Entitled: VendorIntegration {
    let identifier = "entitled"
    let lookupScope = LookupScope.key
    let configuredURLs = [URL(string: "https://fairplay-license.vudrm.tech")].compactMap { $0 }

    func lookupRequest(_ context: LookupContext) async throws -> URLRequest? {
        URL(string: "https://fairplay-license.vudrm.tech/entitlement").map { URLRequest(url: $0) }
    }

    func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] {
        ["url": Secret("https://licenses.example.com/fps")]
    }

    func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
        URL(string: "https://fairplay-license.vudrm.tech/certificate").map { URLRequest(url: $0) }
    }

    func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? {
        lookup["url"].flatMap { URL(string: $0.revealedText) }
    }

    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        guard let url = licenseURL(for: context.keyURI, lookup: context.lookup) else { throw CancellationError() }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = spc.bytes.revealed
        return request
    }
}
