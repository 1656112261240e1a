import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// A stream's keys, for an app that stores it.
@Suite(.timeLimit(.minutes(5))) struct StreamKeysTests {
    private typealias Stream = PreloadStream

    @Test func `all keys of the stream are found, session keys first, without credentials`() async throws {
        let harness = Harness(over: Stream.transport())
        #expect(try await harness.loader.keys(of: Stream.address) == [Stream.session, Stream.audio, Stream.video])
        #expect(harness.credentials.reasons.isEmpty && harness.posts.isEmpty)
    }

    @Test func `an asset is requested with them`() async throws {
        let harness = Harness(over: Stream.transport()) { $0.keyStore = MemoryKeyStore() }
        let offline = try #require(harness.loader.offline)
        try await offline.register("movie-1", keys: Set(harness.loader.keys(of: Stream.address)))
        #expect(try await offline.asset("movie-1")?.keys.map(\.uri) == [Stream.audio, Stream.session, Stream.video])
    }

    @Test(arguments: ["master.m3u8", "video.m3u8"])
    func `an unreadable playlist is an error that names it`(name: String) async {
        let harness = Harness(over: Stream.transport([name: .status(404)]))
        let error = await #expect(throws: ContentKeyError.self) { try await harness.loader.keys(of: Stream.address) }
        #expect(error?.kind == .playlistUnreadable && error?.stage == .playlist)
        #expect(error?.reason.contains(name) == true && error?.reason.contains("404") == true)
        #expect(error?.reason.contains("s3cr3t") == false)
    }

    @Test func `more keys than the limit are an error, not a partial list`() async {
        let harness = Harness(over: Stream.transport())
        var limits = PreloadLimits.wholeStream
        limits.keys = 2
        let error = await #expect(throws: ContentKeyError.self) {
            try await harness.loader.keys(of: Stream.address, limits: limits)
        }
        #expect(error?.kind == .playlistUnreadable)
    }

    @Test func `a hanging network is an error at the deadline, or immediately when the loader is cancelled`()
        async
    {
        let harness = Harness(over: Stream.transport(["master.m3u8": .hang])) {
            $0.retry.attemptTimeout = .seconds(600)
        }
        async let late = Result { try await harness.loader.keys(of: Stream.address) }
        await harness.transport.untilRequested(1)
        await harness.advance([.seconds(60)])
        #expect(await (late.error as? ContentKeyError)?.kind == .deadlineExceeded)
        async let cancelled = Result { try await harness.loader.keys(of: Stream.address) }
        await harness.transport.untilRequested(2)
        harness.loader.cancel()
        #expect(await (cancelled.error as? ContentKeyError)?.kind == .cancelled)
    }

    /// Source: `Documentation/Vendors/Axinom.md`: Axinom's key URI is a key id and an IV, which Foundation on Linux takes for no URL.
    @Test func `a key URI that is not an URL remains text`() async throws {
        let uri: KeyURI = "skd://8d6d4a2c-6a3f-4f1e-9a37-4d2b3c0e9f11:00112233445566778899aabbccddeeff"
        let playlist = Stream.media([uri])
        let profile = VendorProfile.axinom.with([
            "certificateURL": "https://vtb.example.com/fps.cer", "licenseURL": "https://drm.example.com/AcquireLicense",
        ])
        let harness = Harness(
            profile.unchecked,
            over: Stream.transport(["master.m3u8": .ok(Data(playlist.utf8))])
        ) { $0.keyStore = MemoryKeyStore() }
        #expect(try await harness.loader.keys(of: Stream.address) == [uri])
        let request = FakeKeyRequest(uri)
        #expect(await harness.answer(request).ckc == SampleBytes.ckc())
        #expect(request.identifiers == [Data(uri.remainder.utf8)])
        let offline = try #require(harness.loader.offline)
        try await offline.register("movie", keys: [uri])
        let stored = FakePersistableRequest(uri)
        harness.loader.answer(stored)
        _ = await stored.firstAnswer()
        #expect(try await offline.asset("movie")?.state == .stored)
        let prepared = try await PreparedExchange(profile.unchecked, credentials: .token { _ in token })
        #expect(try prepared.contentIdentifier(for: uri) == uri.remainder)
        #expect(try prepared.licenseURL(for: uri).absoluteString == "https://drm.example.com/AcquireLicense")
    }
}
