import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors

@_spi(Integrations) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let key: KeyURI = "skd://fairplay-license.vudrm.tech/license/abc"
/// A token of the test clock's first moment.
let token = "demo-client|2026-01-01T00:00:00Z|c2VjcmV0/policy+A==|0123456789abcdef0123456789abcdef01234567"

extension VendorProfile {
    /// VuDRM's raw dialect: token in a header, and not with the certificate request.
    static let raw = VendorProfile.vuDRMRaw
        .setting("certificateURL", to: "https://fairplay-license.vudrm.tech/certificate/demo")
    /// VuDRM's JSON dialect: token in the body and with the certificate request.
    static let json = VendorProfile.vuDRM
        .setting("certificateURL", to: "https://fairplay-license.vudrm.tech/certificate/demo")
}

extension FakeTransport.Step {
    static let certificate = Self.ok(SampleBytes.certificate)
    static let ckc = Self.ok(SampleBytes.ckc())
    static func ok(_ text: String) -> Self { .ok(Data(text.utf8)) }
}

/// Credentials that count how often and why they were asked for.
final class CredentialLog: Sendable {
    private let log = Locked<[Credentials.Request]>([])
    var requests: [Credentials.Request] { log.withLock { $0 } }
    var reasons: [Credentials.Reason] { requests.map(\.reason) }

    var credentials: Credentials {
        Credentials { request in
            let count = self.log.withLock { log in
                log.append(request)
                return log.count
            }
            return .token("\(token)-\(count)")
        }
    }
}

extension RetryPolicy {
    /// The standard policy without chance: waits of 500 ms and 1 s.
    static let regular = RetryPolicy(jitter: 0)
}

/// A loader over a fake transport and a clock that stands still.
struct Harness {
    let clock = ManualTimekeeper()
    let transport: FakeTransport
    let credentials = CredentialLog()
    let loader: ContentKeyLoader

    init(
        _ integration: some VendorIntegration = VendorProfile.raw.unchecked, get: [FakeTransport.Step] = [.certificate],
        post: [FakeTransport.Step] = [.ckc], credentials other: Credentials? = nil,
        isSeeded: Bool = true, configure: (inout LoaderConfiguration) -> Void = { _ in }
    ) {
        self.init(
            integration, over: FakeTransport(get: get, post: post), credentials: other, isSeeded: isSeeded,
            configure: configure)
    }

    init(
        _ integration: some VendorIntegration = VendorProfile.raw.unchecked, over transport: FakeTransport,
        credentials other: Credentials? = nil,
        isSeeded: Bool = true, configure: (inout LoaderConfiguration) -> Void = { _ in }
    ) {
        var configuration = LoaderConfiguration(retry: .regular, certificateFetch: .withFirstKey)
        configure(&configuration)
        self.transport = transport
        loader = ContentKeyLoader(
            integration, credentials: other ?? credentials.credentials, configuration: configuration,
            transport: transport, timekeeper: clock,
            generator: { () -> any RandomNumberGenerator in
                if isSeeded { SeededGenerator(seed: 7) } else { SystemRandomNumberGenerator() }
            })
    }

    /// The answer to one key request.
    func answer(_ request: FakeKeyRequest = FakeKeyRequest(key)) async -> FakeKeyRequest.Answer {
        loader.answer(request)
        return await request.firstAnswer()
    }

    /// The error that one key request is answered with, while the clock moves on by waits of known length.
    func error(_ request: FakeKeyRequest = FakeKeyRequest(key), after waits: Duration...) async -> ContentKeyError? {
        loader.answer(request)
        await advance(waits)
        return await request.firstAnswer().error
    }

    /// Lets waits of known length pass, one behind the other.
    func advance(_ waits: [Duration]) async {
        for wait in waits {
            await clock.untilSomeoneSleeps(for: wait)
            clock.advance(by: wait)
        }
    }

    /// The license requests that were sent.
    var posts: [URLRequest] { transport.requests.filter { $0.httpMethod == "POST" } }
}

extension AsyncStream<KeyEvent> {
    /// The events until a number of key requests have ended, including the last.
    func untilAnswered(_ count: Int = 1) async -> [KeyEvent] {
        var events: [KeyEvent] = []
        var answered = 0
        for await event in self {
            events.append(event)
            switch event.kind {
            case .answered, .failed, .heldBySystem: answered += 1
            default: break
            }
            if answered == count { break }
        }
        return events
    }
}

extension FakeKeyRequest.Answer {
    /// The CKC of a success.
    var ckc: Data? { try? get() }
}

extension KeyRequests {
    /// Requests that no loader works on.
    convenience init() {
        let clock = ManualTimekeeper()
        self.init(Context(timekeeper: clock, trace: { number, _, asset in Trace(number, of: asset, clock) { _ in } }))
    }
}
