import Foundation
@_spi(Adapters) @_spi(Integrations) import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors

let key: KeyURI = "skd://fairplay-license.vudrm.tech/license/abc"

extension VendorProfile {
    /// VuDRM's raw dialect: token in a header, and not with the certificate request.
    static let raw = VendorProfile.vuDRMRaw
        .setting("certificateURL", to: "https://fairplay-license.vudrm.tech/certificate/demo")
}

extension FakeTransport.Step {
    static let certificate = Self.ok(SampleBytes.certificate)
    static let ckc = Self.ok(SampleBytes.ckc())
    static func ok(_ text: String) -> Self { .ok(Data(text.utf8)) }
}

extension LoaderConfiguration {
    /// One attempt for each request, and a record.
    static let recorded = LoaderConfiguration(
        retry: RetryPolicy(maximumAttempts: 1, jitter: 0), certificateFetch: .withFirstKey, recording: .support)
}

/// A loader with a record, over a fake transport and a clock that stands still.
struct RecordedLoader {
    let loader: ContentKeyLoader

    init(
        _ integration: some VendorIntegration = VendorProfile.raw.unchecked,
        over transport: FakeTransport = FakeTransport(get: [.certificate], post: [.ckc]),
        credentials: Credentials = .fixed(.token("demo-token-0123456789abcdef")),
        configure: (inout LoaderConfiguration) -> Void = { _ in }
    ) {
        var configuration = LoaderConfiguration.recorded
        configure(&configuration)
        loader = ContentKeyLoader(
            integration, credentials: credentials, configuration: configuration, transport: transport,
            timekeeper: ManualTimekeeper(), generator: { SeededGenerator(seed: 7) })
    }

    /// The answer to one key request.
    @discardableResult func answer(_ request: FakeKeyRequest = FakeKeyRequest(key)) async -> FakeKeyRequest.Answer {
        loader.answer(request)
        return await request.firstAnswer()
    }
}
