import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

@Suite(.timeLimit(.minutes(5))) struct KeyDiscoveryTests {
    private static let main = "https://cdn.example.com/x/main.m3u8"

    private static func url(_ name: String) -> String { "https://cdn.example.com/x/\(name)" }

    private static func media(_ uris: String...) -> [String] {
        ["#EXT-X-TARGETDURATION:6"] + uris.flatMap { [PlaylistText.key($0), PlaylistText.segment()] }
    }

    private static func variants(_ uris: String...) -> [String] {
        uris.flatMap { ["#EXT-X-STREAM-INF:BANDWIDTH=1", $0] }
    }

    @Test func `a media playlist gives its own keys`() async throws {
        let fetcher = MemoryFetcher([Self.main: Self.media("skd://1", "skd://2", "skd://1")])
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://1", "skd://2"])
        #expect(found.keys.map { $0.places.map(\.tag.line) } == [[3, 9], [6]])
        #expect(found.playlists.map(\.requestedURI) == [Self.main])
    }

    @Test func `every playlist is read unless session keys suffice`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: [PlaylistText.sessionKey("skd://1")] + Self.variants("v.m3u8"),
            Self.url("v.m3u8"): Self.media("skd://2", "skd://1"),
        ])
        let few = try await KeyDiscovery(fetcher, scope: .sessionKeysSuffice).keys(at: Self.main)
        #expect(few.fairPlayURIs == ["skd://1"] && few.unusedSessionKeys.isEmpty)
        #expect(fetcher.requests == [Self.main])
        let all = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(all.fairPlayURIs == ["skd://1", "skd://2"])
        #expect(all.keys[0].places.map(\.isSessionKey) == [true, false])
        #expect(all.keys[0].places.map(\.playlistURI) == [Self.main, Self.url("v.m3u8")])
    }

    @Test func `session keys of another key system do not suffice`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: [PlaylistText.sessionKey("data:1", #"KEYFORMAT="urn:x""#)] + Self.variants("v.m3u8"),
            Self.url("v.m3u8"): Self.media("skd://2"),
        ])
        let found = try await KeyDiscovery(fetcher, scope: .sessionKeysSuffice).keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://2"])
        #expect(found.keys.count == 2)
    }

    @Test func `variants, renditions and I-frame playlists are fetched once each, with keys in order`() async throws {
        let fetcher = MemoryFetcher(
            [
                Self.main: [
                    #"#EXT-X-MEDIA:TYPE=AUDIO,URI="a.m3u8",GROUP-ID="a",NAME="n""#,
                    #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="../x/i.m3u8""#,
                ] + Self.variants("v.m3u8", "./v.m3u8", "v.m3u8"),
                Self.url("a.m3u8"): Self.media("skd://a"), Self.url("i.m3u8"): Self.media("skd://v"),
                Self.url("v.m3u8"): Self.media("skd://v"),
            ], gate: 3)
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://a", "skd://v"])
        #expect(found.playlists.map(\.requestedURI) == [Self.main] + ["a.m3u8", "i.m3u8", "v.m3u8"].map(Self.url))
        #expect(fetcher.requests.sorted() == found.playlists.map(\.requestedURI).sorted())
    }

    @Test(arguments: [
        ("skd://1", ["skd://1"], [String](), [String]()),
        ("skd://2", ["skd://1", "skd://1"], ["skd://2"], ["skd://1"]),
        ("skd://1", ["skd://1", "skd://2"], [], ["skd://2"]), (nil, ["skd://1"], [], []),
    ])
    func `unused session keys differ from keys missing among the session keys`(
        _ session: String?, _ media: [String], _ unused: [String], _ unnamed: [String]
    ) async throws {
        let first = (session.map { [PlaylistText.sessionKey($0)] } ?? []) + Self.variants("v")
        let keys = ["#EXT-X-TARGETDURATION:6"] + media.flatMap { [PlaylistText.key($0), PlaylistText.segment()] }
        let found = try await KeyDiscovery(MemoryFetcher([Self.main: first, Self.url("v"): keys])).keys(at: Self.main)
        #expect(found.unusedSessionKeys.map(\.uri.raw) == unused)
        #expect(found.keysWithoutSessionKey.map(\.uri.raw) == unnamed)
    }

    @Test func `a missing playlist may need any session key`() async throws {
        let first = [PlaylistText.sessionKey("skd://1")] + Self.variants("v", "gone")
        let found = try await KeyDiscovery(MemoryFetcher([Self.main: first, Self.url("v"): Self.media("skd://2")]))
            .keys(at: Self.main)
        #expect(found.failures.count == 1 && found.unusedSessionKeys.isEmpty)
    }

    @Test(arguments: [1, 2, 5]) func `concurrent fetches do not exceed the limit`(_ cap: Int) async throws {
        let names = (0..<10).map { "v\($0).m3u8" }
        var playlists = Dictionary(uniqueKeysWithValues: names.map { (Self.url($0), Self.media("skd://\($0)")) })
        playlists[Self.main] = names.flatMap { Self.variants($0) }
        let fetcher = MemoryFetcher(playlists, gate: cap)
        var discovery = KeyDiscovery(fetcher)
        discovery.concurrentFetches = cap
        let found = try await discovery.keys(at: Self.main)
        #expect(fetcher.mostOpen == cap)
        #expect(found.fairPlayURIs.map(\.raw) == names.map { "skd://\($0)" })
    }

    @Test func `a redirect moves the base, and a playlist reached twice counts once`() async throws {
        let final = "https://edge.example.net/y/v.m3u8?t=1"
        let fetcher = MemoryFetcher(
            [Self.main: Self.variants("v.m3u8", "w.m3u8"), final: Self.media("keys/1")],
            redirects: [Self.url("v.m3u8"): final, Self.url("w.m3u8"): final])
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.keys.map(\.uri) == ["keys/1"])
        #expect(found.keys.map(\.resolvedURI) == ["https://edge.example.net/y/keys/1"])
        #expect(found.playlists.count == 2)
        #expect(found.failures.isEmpty)
    }

    @Test func `relative keys of playlists in different folders are different keys`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: Self.variants("a/v.m3u8", "b/v.m3u8"),
            Self.url("a/v.m3u8"): Self.media("key"), Self.url("b/v.m3u8"): Self.media("key"),
        ])
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.keys.map(\.resolvedURI) == [Self.url("a/key"), Self.url("b/key")])
    }

    @Test func `discovery ends despite cycles`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: Self.variants("main.m3u8", "b.m3u8"), Self.url("b.m3u8"): Self.variants("main.m3u8", "c.m3u8"),
            Self.url("c.m3u8"): Self.media("skd://c"),
        ])
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://c"])
        #expect(fetcher.requests.count == 3)
        #expect(found.failures.isEmpty)
    }

    @Test func `playlists nested too deep are failures`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: Self.variants("b.m3u8"), Self.url("b.m3u8"): Self.variants("c.m3u8"),
            Self.url("c.m3u8"): Self.media("skd://c"),
        ])
        var discovery = KeyDiscovery(fetcher)
        discovery.maximumDepth = 1
        let found = try await discovery.keys(at: Self.main)
        #expect(found.failures.map(\.uri) == [Self.url("c.m3u8")])
        #expect(found.failures.compactMap { ($0.error as? Diagnosis)?.code } == ["tooDeep"])
        #expect(fetcher.requests.count == 2)
    }

    @Test func `playlists beyond the limit are failures`() async throws {
        let fetcher = MemoryFetcher([Self.main: Self.variants("a", "b", "c"), Self.url("a"): Self.media("skd://a")])
        var discovery = KeyDiscovery(fetcher)
        discovery.maximumPlaylists = 2
        let found = try await discovery.keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://a"])
        #expect(
            found.failures.map { ($0.error as? Diagnosis)?.code } == ["tooManyPlaylists", "tooManyPlaylists"])
        #expect(fetcher.requests.count == 2)
    }

    @Test func `bytes beyond the limit are not kept, and fetching stops`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: Self.variants("a", "b", "c"), Self.url("a"): Self.media("skd://a"),
            Self.url("b"): Self.media("skd://b"), Self.url("c"): Self.media("skd://c"),
        ])
        var discovery = KeyDiscovery(fetcher)
        discovery.concurrentFetches = 1
        discovery.maximumBytes = 400
        let found = try await discovery.keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://a"])
        #expect(found.failures.map { ($0.error as? Diagnosis)?.code } == ["tooManyBytes", "tooManyBytes"])
        #expect(fetcher.requests.count == 3)
    }

    @Test func `failed playlists are values next to the keys of the others`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: Self.variants("gone?token=s3cret", "bad", "file:///etc/passwd", "v"),
            Self.url("bad"): ["#EXT-X-KEY:"], Self.url("v"): Self.media("skd://v"),
        ])
        let found = try await KeyDiscovery(fetcher).keys(at: Self.main)
        #expect(found.fairPlayURIs == ["skd://v"])
        #expect(found.failures.map(\.uri) == ["file:///etc/passwd", Self.url("gone?token=s3cret"), Self.url("bad")])
        #expect((found.failures[0].error as? Diagnosis)?.code == "schemeNotAllowed")
        #expect(found.failures[1].error is MemoryFetcher.NotFound)
        #expect((found.failures[2].error as? PlaylistError)?.code == "missingAttribute")
        #expect(!found.failures[1].description.prefix { $0 != ":" }.contains("s3cret"))
        #expect(!fetcher.requests.contains("file:///etc/passwd"))
    }

    @Test func `a failed first playlist is thrown`() async {
        await #expect(throws: MemoryFetcher.NotFound(uri: Self.main)) {
            try await KeyDiscovery(MemoryFetcher([:])).keys(at: Self.main)
        }
        await #expect(throws: PlaylistError.self) {
            try await KeyDiscovery(MemoryFetcher([Self.main: []])).keys(at: Self.main)
        }
    }

    @Test func `media playlists import variables from the playlist that led to them`() async throws {
        let fetcher = MemoryFetcher([
            Self.main: [#"#EXT-X-DEFINE:NAME="id",VALUE="7""#] + Self.variants("v"),
            Self.url("v"): [#"#EXT-X-DEFINE:IMPORT="id""#] + Self.media("skd://{$id}"),
        ])
        #expect(try await KeyDiscovery(fetcher).keys(at: Self.main).fairPlayURIs == ["skd://7"])
    }

    @Test(arguments: [
        (PlaylistText.sessionKey("skd://1"), 0), (PlaylistText.sessionKey("skd://1", method: "AES-128"), 1),
        (PlaylistText.sessionKey("skd://1", #"KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="2""#), 1),
        (PlaylistText.sessionKey("skd://1", #"KEYFORMAT="urn:x""#), 1), (PlaylistText.sessionKey("skd://other"), 0),
    ])
    func `a session key that differs from its media key is reported`(_ line: String, _ warnings: Int) async throws {
        let fetcher = MemoryFetcher([Self.main: [line] + Self.variants("v"), Self.url("v"): Self.media("skd://1")])
        let found = try await KeyDiscovery(fetcher, scope: .everyMediaPlaylist).keys(at: Self.main)
        #expect(found.warnings.count == warnings)
        #expect(found.fairPlayURIs.contains("skd://1"))
    }

    @Test func `cancelling ends the discovery with an error`() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await KeyDiscovery(MemoryFetcher([Self.main: Self.media("skd://1")])).keys(at: Self.main)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a closure fetches too`() async throws {
        let fetcher = PlaylistFetcher { uri in
            FetchedPlaylist(bytes: Data((["#EXTM3U"] + Self.media("skd://1")).joined(separator: "\n").utf8), uri: uri)
        }
        #expect(try await KeyDiscovery(fetcher).keys(at: "main.m3u8").fairPlayURIs == ["skd://1"])
    }
}
