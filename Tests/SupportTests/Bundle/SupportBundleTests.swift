import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeySupport

/// A loader that remembers what support needs.
private func recorded(_ vendor: ConfiguredVendor, _ credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(vendor, credentials: credentials, configuration: LoaderConfiguration(recording: .support))
}

/// The file that the app sends when the viewer asks for help.
private func bundle(of loader: ContentKeyLoader, _ stream: URL) throws -> Data {
    try loader.supportBundle(of: stream)
}

/// A bundle from a stranger: typed errors, and no more work than its size.
@Suite(.timeLimit(.minutes(2))) struct SupportBundleTests {
    private static func sample() async throws -> Data {
        try await CapturedFailure(.forbidden, at: .license) { $0.post = [.status(403)] }.captured().bundle
    }

    private static func code(of data: Data) -> String? {
        do { _ = try SupportBundle(data) } catch { return error.code }
        return nil
    }

    /// The bundle with one of its files replaced; `nil` removes it.
    private static func sample(replacing name: String, by text: String?) async throws -> Data {
        let entries = try ZipArchive(reading: try await sample()).entries
        return ZipArchive(
            entries.compactMap { $0.name == name ? text.map { .init(name, Data($0.utf8)) } : $0 }
        ).data
    }

    @Test func `a person finds a page with the event and the remedy`() async throws {
        let archive = try ZipArchive(reading: try await Self.sample())
        #expect(
            archive.entries.map(\.name) == [
                "README.txt", "manifest.json", "profile.json", "events.jsonl", "exchanges.har", "trace.html",
                "trace.json",
            ])
        let readme = String(decoding: archive["README.txt"] ?? Data(), as: UTF8.self)
        #expect(readme.contains("forbidden at license"))
        let page = String(decoding: archive["trace.html"] ?? Data(), as: UTF8.self)
        #expect(page.contains("license: forbidden"))
    }

    @Test func `header fields keep their names and lose their secrets`() {
        let secret = "0123456789abcdef01234567"
        let fields = [("Content-Type", "text/plain"), ("Authorization", "Bearer \(secret)")]
        let shown = Sanitizer(VendorProfile.raw.unchecked, seed: 1).exchange(
            RecordedExchange(
                RecordedRequest(method: "POST", url: "https://a.example/l", headers: fields),
                HTTPReply(status: 200, headers: fields)),
            hiding: SecretForms([Secret(secret)]))
        for fields in [shown.request?.headers, shown.reply?.headers] {
            #expect(fields?.map(\.name) == ["Content-Type", "Authorization"])
            #expect(fields?.first?.value == "text/plain" && fields?.last?.value.contains(secret) == false)
        }
    }

    @Test func `the app's playlists are included by key lines`() async throws {
        let loader = RecordedLoader(over: FakeTransport(get: [], post: [])).loader
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://host/key?auth=0123456789abcdef01234567",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:6,
            segment.ts?token=fedcba9876543210
            #EXT-X-PRELOAD-HINT:TYPE=KEY,URI="skd://host/next?auth=0123456789abcdef01234567",KEYFORMAT="com.apple.streamingkeydelivery",DATE-OF-FIRST-USE="2026-01-01T00:00:00.000Z"
            """
        let data = try loader.supportBundle(playlists: [URL(filePath: "/master.m3u8"): Data(playlist.utf8)])
        let text = String(decoding: try ZipArchive(reading: data)["playlists/1.m3u8"] ?? Data(), as: UTF8.self)
        #expect(text.contains("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://host/key?auth="))
        #expect(text.contains("#EXT-X-PRELOAD-HINT:TYPE=KEY,URI=\"skd://host/next?auth="))
        #expect(text.contains("DATE-OF-FIRST-USE=\"2026-01-01T00:00:00Z\"  ## line 6"))
        #expect(!text.contains("0123456789abcdef01234567") && !text.contains("segment"))
    }

    @Test(arguments: [
        ("manifest.json", nil), ("manifest.json", "{}"), ("manifest.json", "{\"format\":1}"),
        ("manifest.json", "nothing"),
        ("exchanges.har", nil), ("exchanges.har", "[]"), ("exchanges.har", "{\"log\":{\"entries\":[{}]}}"),
        ("profile.json", "{}"), ("profile.json", "\u{1b}[2J"),
        ("manifest.json", String(repeating: "[", count: 100_000)),
        ("exchanges.har", String(repeating: "{\"log\":", count: 50_000)),
    ])
    func `a file that is missing, malformed or too deep is named`(_ name: String, _ text: String?) async throws {
        let data = try await Self.sample(replacing: name, by: text)
        #expect(Self.code(of: data) == "bundleMalformed")
    }

    @Test func `a later form is refused with a remedy`() async throws {
        let data = try await Self.sample(replacing: "manifest.json", by: "{\"format\":2}")
        #expect(Self.code(of: data) == "bundleTooNew")
    }

    @Test func `a bundle without a profile says that it cannot be replayed`() async throws {
        let data = try await Self.sample(replacing: "profile.json", by: nil)
        await #expect(throws: Diagnosis.self) { try await CapturedFailure.replayed(data) }
    }

    @Test func `events after an unreadable one are still read`() async throws {
        let data = try await Self.sample(replacing: "events.jsonl", by: "nothing\n{\"event\":1}\n\u{0}\n")
        #expect(try SupportBundle(data).events.isEmpty)
    }

    @Test func `huge numbers do not crash`() async throws {
        let entries = try ZipArchive(reading: try await Self.sample()).entries
        let manifest = String(decoding: entries[1].data, as: UTF8.self)
            .replacing(#/"(deadline|firstWait|attemptTimeout|jitter)" : [0-9.]+/#) { "\"\($0.output.1)\" : 1e300" }
            .replacing(#/"(spcBytes|bodyLimit|number)" : [0-9]+/#) { "\"\($0.output.1)\" : -9223372036854775808" }
        let data = try await Self.sample(replacing: "manifest.json", by: manifest)
        #expect(try await CapturedFailure.replayed(data).count == 1)
    }

    @Test(arguments: 0..<30)
    func `random changes of its files do not crash`(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let entries = try ZipArchive(reading: try await Self.sample()).entries.map { entry in
            var data = entry.data
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let place = Int.random(in: 0..<data.count, using: &generator)
                data[place] = "0123456789-{}[]\",:e".utf8.randomElement(using: &generator) ?? 0
            }
            return ZipArchive.Entry(entry.name, data)
        }
        let errors = try? await CapturedFailure.replayed(ZipArchive(entries).data)
        #expect((errors ?? []).count <= 1)
    }

    @Test func `the article's bundle is one`() async throws {
        let loader = recorded(VendorProfile.raw.unchecked, .none)
        defer { loader.cancel() }
        let stream = URL(filePath: "/master.m3u8")
        #expect(try SupportBundle(bundle(of: loader, stream)).vendor == "vudrm-raw")
    }

    @Test func `a loader that records nothing has no bundle and names the setting to change`() async throws {
        let harness = RecordedLoader { $0.recording = .off }
        await harness.answer()
        #expect(harness.loader.record == nil)
        let error = #expect(throws: Diagnosis.self) { try harness.loader.supportBundle() }
        #expect(error?.code == "recordingOff" && error?.remedy.contains("recording: .support") == true)
        #expect(LoaderConfiguration().recording.record == nil)
    }

    @Test func `a truncated bundle is refused`() async throws {
        let bundle = try await Self.sample()
        let counts = Array(stride(from: 0, to: bundle.count, by: 499)) + (bundle.count - 40..<bundle.count)
        for count in counts {
            #expect(throws: Diagnosis.self) { try SupportBundle(bundle.prefix(count)) }
        }
    }
}
