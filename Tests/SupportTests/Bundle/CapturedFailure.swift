import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeySupport

/// A playback that fails in one way: the error's kind and stage, and its cause.
struct CapturedFailure: Sendable, CustomTestStringConvertible {
    let kind: Diagnosis.Kind
    let stage: ContentKeyError.Stage
    var vendor: ConfiguredVendor = VendorProfile.raw.unchecked
    var get: [FakeTransport.Step] = [.certificate]
    var post: [FakeTransport.Step] = [.ckc]
    var uri = key
    var spc: Data? = Data(repeating: 0x17, count: 400)
    var deadline = Duration.seconds(30)
    var credentials = Credentials { _ in .token("demo-token-0123456789abcdef") }

    init(_ kind: Diagnosis.Kind, at stage: ContentKeyError.Stage, _ change: (inout Self) -> Void = { _ in }) {
        (self.kind, self.stage) = (kind, stage)
        change(&self)
    }

    var testDescription: String { "\(kind.rawValue) at \(stage.rawValue)" }

    /// Plays, and returns the error with the bundle that the loader makes of it.
    /// - Parameter times: how often the player asks.
    func captured(asking times: Int = 1) async throws -> (error: ContentKeyError?, bundle: Data) {
        let time = VirtualTime()
        return try await time.run {
            let loader = ContentKeyLoader(
                vendor, credentials: credentials,
                configuration: LoaderConfiguration(
                    retry: RetryPolicy(deadline: deadline), certificateFetch: .withFirstKey, recording: .support),
                transport: FakeTransport(get: get, post: post), timekeeper: time,
                generator: { SeededGenerator(seed: 5) })
            defer { loader.cancel() }
            var error: ContentKeyError?
            for _ in 1...times {
                let request = FakeKeyRequest(uri) {
                    guard let spc else { throw Diagnosis(.spcFailed, "No SPC.") }
                    return spc
                }
                loader.answer(request)
                error = await request.firstAnswer().error
            }
            return (error, try loader.supportBundle(of: URL(string: "https://cdn.example/master.m3u8")))
        }
    }

    /// The errors of a bundle that is played again.
    static func replayed(_ bundle: Data) async throws -> [ContentKeyError] {
        let (read, time) = (try SupportBundle(bundle), VirtualTime())
        return try await time.run { try await SupportReplay(read, timekeeper: time).errors() }
    }
}

extension CapturedFailure {
    /// One or more of each kind that an exchange, or the app's input to it, can lead to.
    static let all: [Self] = loader + refusals + services + malformed + network

    private static let loader: [Self] = [
        Self(.hostRefused, at: .license) {
            $0.vendor = VendorProfile.expressPlay.setting("certificateURL", to: "https://a.example/c").unchecked
            $0.uri = "skd://other.example/rights?ExpressPlayToken=AQAAAAQ1234567890abcdefg"
        },
        Self(.insecureURL, at: .license) {
            $0.vendor =
                VendorProfile.genericRaw.with([
                    "certificateURL": "https://a.example/c", "licenseURL": "http://a.example/l",
                ]).unchecked
        },
        Self(.redirectRefused, at: .license) {
            $0.post = [.status(307, [("Location", "/again?ticket=0123456789abcdef0123")])]
        },
        Self(.deadlineExceeded, at: .license) { ($0.post, $0.deadline) = ([.hang], .seconds(5)) },
        Self(.spcFailed, at: .spc) { $0.spc = nil },
        Self(.credentialsFailed, at: .license) { $0.credentials = Credentials { _ in throw CancelledSignIn() } },
    ]

    private struct CancelledSignIn: Error {}

    private static let statuses: [(Int, Diagnosis.Kind)] = [
        (400, .invalidRequest), (401, .unauthenticated), (403, .forbidden), (404, .notFound), (410, .notFound),
        (429, .rateLimited), (451, .regionDenied), (500, .serverTransient), (503, .serverTransient),
        (501, .serverPermanent), (304, .redirected),
    ]

    private static let refusals = statuses.flatMap { status, kind in
        [
            Self(kind, at: .license) { $0.post = [.status(status)] },
            Self(kind, at: .certificate) { $0.get = [.status(status)] },
        ]
    }

    private static let services: [Self] =
        [
            Self(.rateLimited, at: .license) { $0.post = [.status(429, [("Retry-After", "120")])] },
            Self(.concurrencyLimit, at: .license) {
                $0.vendor = coded
                $0.post = [refusal("{\"code\":\"STREAMS-7\",\"message\":\"Too many for 0123456789abcdef01\"}")]
            },
            Self(.notYetValid, at: .license) {
                $0.vendor = coded
                $0.post = [refusal("{\"code\":4711,\"detail\":{\"session\":\"c2VjcmV0LXNlc3Npb24taWQtMDE=\"}}")]
            },
        ]

    private static let malformed: [Self] =
        [
            Self(.licenseMalformed, at: .license) { $0.post = [.ok("<html><title>Sign in</title></html>")] },
            Self(.licenseMalformed, at: .license) { $0.post = [.ok("{\"error\":\"no\"}")] },
            Self(.licenseMalformed, at: .license) { $0.post = [.ok(Data())] },
            Self(.licenseMalformed, at: .license) { $0.post = [.ok(SampleBytes.ckc(cutting: 9))] },
            Self(.licenseMalformed, at: .license) { $0.post = [.ok(SampleBytes.ckc(cutting: 80))] },
            Self(.licenseMalformed, at: .license) { $0.post = [.ok(SampleBytes.ckc() + Data(count: 3))] },
            Self(.certificateMalformed, at: .certificate) { $0.get = [.ok("-----BEGIN CERTIFICATE-----\nMIIB")] },
            Self(.certificateMalformed, at: .certificate) { $0.get = [.ok(SampleBytes.certificate.dropLast(10))] },
            Self(.certificateMalformed, at: .certificate) {
                $0.get = [.ok(Data([0x30, 0x82, 0x01, 0, 2, 1, 3]) + Data(repeating: 7, count: 253))]
            },
            Self(.contentIdentifierMissing, at: .contentIdentifier) {
                ($0.vendor, $0.uri) = (sessions, "skd://")
            },
            Self(.missingSetting, at: .certificate) {
                $0.vendor = VendorProfile.vuDRMRaw.unchecked
            },
            Self(.missingCredential, at: .license) { $0.credentials = Credentials { _ in CredentialSet([:]) } },
            Self(.invalidURL, at: .certificate) {
                $0.vendor = VendorProfile.raw.setting("certificateURL", to: "not an address").unchecked
            },
            Self(.lookupMalformed, at: .lookup) {
                ($0.vendor, $0.uri) = (entitled, "skd://entitle.example/sees?cid=movie")
                $0.post = [.ok("{\"isAllowed\":true}")]
            },
            Self(.sessionMalformed, at: .setup) {
                ($0.vendor, $0.uri) = (sessions, "skd://ZGVtby0x")
                $0.post = [.ok("{\"sessionToken\":\"SESSION-0123456789abcdef\",\"heartbeat\":0}")]
            },
        ]

    private static let kinds = Diagnosis.Kind.all.filter {
        (300..<400).contains($0.number) && $0 != .playlistUnreadable
    }

    private static let network: [Self] =
        kinds.flatMap { kind in
            [
                Self(kind, at: .license) { $0.post = [.failure(TransportError(kind, "It failed."))] },
                Self(kind, at: .certificate) { $0.get = [.failure(TransportError(kind, "It failed."))] },
            ]
        } + [
            Self(.timedOut, at: .license) { ($0.post, $0.deadline) = ([.hang], .seconds(90)) },
            Self(.bodyTooLarge, at: .license) { $0.post = [.ok(Data(count: 2 << 20))] },
        ]

    private static let coded: ConfiguredVendor = {
        var profile = VendorProfile.raw
        profile.errors = ErrorRules(
            code: [.json("code")], kinds: ["STREAMS-7": .concurrencyLimit, "4711": .notYetValid])
        return profile.unchecked
    }()

    private static let entitled = VendorProfile.expressPlayEntitlement.with([
        "certificateURL": "https://a.example/c", "entitlementURL": "https://entitle.example/sees",
    ]).unchecked

    private static let sessions = VendorProfile.nagra.with([
        "certificateURL": "https://a.example/c", "licenseURL": "https://a.example/l",
        "sessionURL": "https://sessions.example/ssm/v1/",
    ]).unchecked

    private static func refusal(_ json: String) -> FakeTransport.Step {
        .reply(HTTPReply(status: 403, headers: [("Content-Type", "application/json")], body: Data(json.utf8)))
    }
}
