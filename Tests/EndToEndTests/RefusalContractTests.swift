import DocumentedRefusals
import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Each code that a vendor's page documents, from the emulated service to the app's error: two readings of the page that know nothing of each
/// other have to meet.
@Suite(.timeLimit(.minutes(3))) struct RefusalContractTests {
    /// NAGRA's numbers to which the lists of its DRM systems give different meanings: a client shows number and words, and no meaning.
    private static let ambiguous = Set(
        "1003 1005 1006 2002 2102 2104 3003 3004 4027".split(separator: " ").map(String.init))

    @Test(arguments: DocumentedRefusals.DocumentedCode.all)
    func `a client reads the service's refusals`(_ row: DocumentedRefusals.DocumentedCode) async throws {
        let services = VendorServices.all(authority: try Self.authority.get(), time: ManualTimekeeper())
        let service = try #require(services.first { $0.identifier.rawValue == row.service })
        let profile = try #require(VendorProfile.named(row.service))
        let endpoint = ServiceEndpoint(rawValue: row.endpoint)
        service.faults.set(.refusal(code: row.code), at: endpoint)
        let answer = await service.respond(to: try Self.request(to: endpoint, of: service))
        let reply = HTTPReply(
            status: answer.status, headers: answer.headers.fields.map { ($0.name.rawValue, $0.value) },
            body: answer.bytes ?? Data())
        let error = try #require(Self.error(reply, profile.unchecked, endpoint), "the client takes the refusal")
        let stage: VendorProfile.RefusalStage = Self.step(endpoint) == nil ? .license : .session
        let documented = profile.errors(at: stage)?.codes[row.code]
        let isAmbiguous = row.service == "nagra" && stage == .license && Self.ambiguous.contains(row.code)
        #expect((documented == nil) == isAmbiguous, "the profile lacks the code, or the page knows none")
        if let documented {
            #expect(error.kind == documented.kind && error.isRetryable == documented.isRetryable)
            #expect(error.reason.hasSuffix(documented.meaning ?? ""), "\(error.reason)")
        }
        #expect(error.service?.status == row.status)
        let hasCode =
            switch row.form {
            case .json(nil, _, _), .headers(nil, _), .text: false
            default: true
            }
        #expect(!hasCode || error.service?.code == row.code, "\(error.reason)")
        #expect(error.service?.requestID == reply.header("x-request-id"), "\(error.reason)")
    }

    private static let authority = Result {
        LicenseAuthority(
            module: KeyServerModule(
                credentials: [try TestCredentials.make(bits: 1_024).credential], derivation: InsecureTestDerivation()),
            keys: try LiveServices.demoKeys(), pool: WorkerPool(threads: 1))
    }

    private static func step(_ endpoint: ServiceEndpoint) -> SessionStep? {
        switch endpoint.rawValue {
        case "sessionSetup": .setup
        case "sessionHeartbeat": .heartbeat
        case "sessionTeardown": .teardown
        default: nil
        }
    }

    /// The error of a refusal; `nil` if the client accepts the reply.
    private static func error(
        _ reply: HTTPReply, _ vendor: ConfiguredVendor, _ endpoint: ServiceEndpoint
    ) -> IntegrationError? {
        let exchange = HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply)
        do {
            if let step = step(endpoint) {
                _ = try vendor.session(from: exchange, step)
            } else if endpoint == .certificate {
                _ = try vendor.certificate(from: exchange)
            } else {
                _ = try vendor.license(
                    from: exchange, LicenseContext(keyURI: "skd://k", contentIdentifier: ContentIdentifier("k")))
            }
            return nil
        } catch { return error as? IntegrationError }
    }

    private static func request(to endpoint: ServiceEndpoint, of service: any VendorService) throws -> HTTPRequest {
        let route = try #require(service.routes.first { $0.handler.endpoint == endpoint })
        let path = route.path.text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "x" : String($0) }.joined(separator: "/")
        return HTTPRequest(method: try #require(route.methods.first), target: path)
    }
}
