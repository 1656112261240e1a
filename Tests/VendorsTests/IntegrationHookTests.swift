import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which hooks an integration implements: a mistaken name compiles, and is never called.
@Suite(.timeLimit(.minutes(5))) struct IntegrationHookTests {
    private static let address = URL(string: "https://keys.house.example/license")

    /// Three hooks, each with a mistake in its name or its types.
    private struct Mistaken: VendorIntegration {
        let identifier = "house"
        let licenseURL = IntegrationHookTests.address
        func licenceRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
            throw CancellationError()
        }
        func license(from reply: HTTPReply, _ context: LicenseContext) throws -> License { throw CancellationError() }
        func contentIdentifier(forKey key: KeyURI) throws -> ContentIdentifier { throw CancellationError() }
    }

    /// Every hook, and none as its default.
    private struct Whole: VendorIntegration {
        let identifier = "whole"
        let redaction = Redaction(headers: ["x-own"])
        let certificateURL = IntegrationHookTests.address
        let licenseURL = IntegrationHookTests.address
        let configuredURLs: [URL] = []
        let lookupScope = LookupScope.key
        func lookupRequest(_ context: LookupContext) async throws -> URLRequest? { throw CancellationError() }
        func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] {
            ["own": Secret("own")]
        }
        let sessionScope = SessionScope.source
        func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
            URLRequest(url: URL(fileURLWithPath: "/"))
        }
        func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply {
            SessionReply(period: .seconds(1))
        }
        func session(openedBy license: License) -> SessionReply? { SessionReply() }
        let renewal = RenewalPolicy(minimumLead: 1)
        func sessionRenewal(after license: License) -> SessionRenewal { .enforced }
        func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier("own") }
        func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? { nil }
        func bundledCertificate() throws -> ApplicationCertificate? { throw CancellationError() }
        func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate { throw CancellationError() }
        func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? { nil }
        func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
            throw CancellationError()
        }
        func advice(
            on credentials: CredentialSet, _ context: LicenseContext, at date: Date
        ) -> [TokenInspection.Advice] { [.keyNotCovered] }
        func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
            throw CancellationError()
        }
    }

    @Test func `a hook with a wrong name or type is the default's, and its test says so`() async throws {
        #expect(await Mistaken().ownHooks() == [.licenseURL])
        let expected: Set<IntegrationHook> = [.licenseURL, .licenseRequest, .license, .contentIdentifier]
        let mismatch = await #expect(throws: IntegrationHookMismatch.self) {
            try await Mistaken().checkHooks(expected)
        }
        #expect(mismatch?.missing == [.licenseRequest, .license, .contentIdentifier])
        #expect(mismatch?.unexpected == [])
        let text = "contentIdentifier(for:), license(from:_:), licenseRequest(for:_:)"
        #expect(mismatch?.description.contains(text) == true)
    }

    @Test func `each hook of an integration is found and must be named`() async throws {
        #expect(await Whole().ownHooks() == Set(IntegrationHook.allCases))
        try await Whole().checkHooks(Set(IntegrationHook.allCases))
        let mismatch = await #expect(throws: IntegrationHookMismatch.self) {
            try await Whole().checkHooks(Set(IntegrationHook.allCases).subtracting([.renewal]))
        }
        #expect(mismatch?.unexpected == [.renewal] && mismatch?.missing == [])
        #expect(mismatch?.description == "These hooks are the integration's own: renewal.")
    }

    @Test func `a data vendor makes its requests and reads its replies itself`() async throws {
        let certificate = try #require(Self.address)
        let own = await ConfiguredVendor.vuDRM(certificate: certificate).ownHooks()
        #expect(own.isSuperset(of: [.licenseRequest, .license, .renewal]))
        #expect(own.isDisjoint(with: [.lookupScope, .sessionScope]))
    }
}
