import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Each member of a loader's configuration does something.
///
/// The members come from the type itself, so that a new one fails here until it names the test that guards it.
@Suite(.timeLimit(.minutes(1))) struct LoaderConfigurationTests {
    /// Each member's test: its file below this folder, and a part of its text that sets the member.
    private static let guards: [String: (file: String, setting: String)] = [
        "retry": ("DeadlineTests.swift", "$0.retry.maximumAttempts = 2"),
        "hosts": ("HostPolicyTests.swift", #"$0.hosts.allowed = ["cdn.example"]"#),
        "leases": (
            "Offline/LicenseCacheTests.swift", "$0.leases = LeasePolicy(jitter: 0)"
        ),
        "certificateLifetime": ("CertificateCacheTests.swift", "$0.certificateLifetime = .seconds(60)"),
        "certificateFetch": ("CertificateCacheTests.swift", "$0.certificateFetch = .atOnce"),
        "bodyLimit": ("LoaderConfigurationTests.swift", "$0.bodyLimit = 777"),
        "redirectLimit": ("RedirectTests.swift", "$0.redirectLimit = -1"),
        "requestsPerHost": ("HostLimitTests.swift", "$0.requestsPerHost = 1"),
        "requestPatience": ("HostLimitTests.swift", "$0.requestPatience = .seconds(60)"),
        "preparedCredentialsLifetime": ("PreparedCredentialsTests.swift", "$0.preparedCredentialsLifetime = lifetime"),
        "keyStore": ("Offline/PersistableRequestTests.swift", "$0.keyStore = store"),
        "offline": ("LoaderConfigurationTests.swift", "$0.offline = OfflinePolicy(assets: 1)"),
        "playlist": ("PreloadPlaylistTests.swift", "$0.playlist = { url in"),
        "licenseCache": ("Offline/LicenseCacheTests.swift", "$0.licenseCache = policy"),
        "tracing": ("TraceParentTests.swift", "$0.tracing = .traceparent"),
        "recording": ("LoaderConfigurationTests.swift", "$0.recording = LoaderConfiguration.Recording"),
        "observer": ("LoaderConfigurationTests.swift", "$0.observer = { event in"),
    ]

    @Test func `every member has a test that sets it, and every test has its member`() throws {
        let members = Mirror(reflecting: LoaderConfiguration()).children.compactMap(\.label)
        #expect(members.sorted() == Self.guards.keys.sorted())
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        for (member, place) in Self.guards {
            let text = try String(contentsOf: folder.appending(path: place.file), encoding: .utf8)
            #expect(text.contains(place.setting), "\(member): \(place.file)")
        }
    }

    @Test func `replies are cut off at the configured limit`() async {
        let transport = LimitedTransport()
        var configuration = LoaderConfiguration(retry: .regular, certificateFetch: .withFirstKey)
        let change: (inout LoaderConfiguration) -> Void = { $0.bodyLimit = 777 }
        change(&configuration)
        let loader = ContentKeyLoader(
            VendorProfile.raw.unchecked, credentials: .token { _ in token }, configuration: configuration,
            transport: transport,
            timekeeper: ManualTimekeeper(), generator: { SeededGenerator(seed: 7) })
        let request = FakeKeyRequest(key)
        loader.answer(request)
        #expect(await request.firstAnswer().error == nil)
        #expect(transport.limits.withLock { Set($0) } == [777])
    }

    @Test func `the configuration limits the stored assets`() async throws {
        let harness = Harness {
            $0.keyStore = MemoryKeyStore()
            $0.offline = OfflinePolicy(assets: 1)
        }
        let offline = try #require(harness.loader.offline)
        try await offline.register("one", keys: [key])
        let error = await #expect(throws: (any Error).self) { try await offline.register("two", keys: [key]) }
        #expect((error as? any DiagnosableError)?.code == "tooManyOfflineAssets")
    }

    @Test func `a record gets everything that support needs, and there is none by default`() async {
        #expect(LoaderConfiguration().recording.record == nil)
        let record = CountedRecord()
        let harness = Harness { $0.recording = LoaderConfiguration.Recording { _, _ in record } }
        #expect(await harness.answer().error == nil)
        #expect(record.noted.withLock { $0 } == ["credentials", "event", "exchange", "key", "spc"])
        #expect(harness.loader.record as? CountedRecord === record)
    }

    @Test func `an observer sees each event of a key`() async {
        let kinds = Locked<[String]>([])
        let harness = Harness {
            $0.observer = { event in kinds.withLock { $0.append(event.kind.name) } }
        }
        _ = await harness.answer()
        // The last one may arrive after the answer.
        while !kinds.withLock({ $0.contains("answered") }) { await Task.yield() }
        #expect(kinds.withLock { $0.first } == "requested")
    }
}

/// Remembers the reports that it gets.
private final class CountedRecord: LoaderRecord {
    let noted = Locked<Set<String>>([])

    func note(_ event: KeyEvent) { note("event") }
    func note(_ exchange: RecordedExchange, hiding secrets: [Secret]) { note("exchange") }
    func note(_ credentials: CredentialSet) { note("credentials") }
    func note(_ key: KeyURI, _ purpose: KeyPurpose, of number: Int) { note("key") }
    func noteSPC(_ count: Int, of number: Int) { note("spc") }
    func note(playlist: Data, at address: String) { note("playlist") }

    private func note(_ what: String) { noted.withLock { _ = $0.insert(what) } }
}

/// Answers as a service does, and remembers how large a reply may be.
private final class LimitedTransport: Transport {
    let limits = Locked<[Int]>([])
    private let inner = FakeTransport(get: [.certificate], post: [.ckc])

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        limits.withLock { $0.append(bodyLimit) }
        return try await inner.send(request, bodyLimit: bodyLimit)
    }
}
