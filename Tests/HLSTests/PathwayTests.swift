import LatchkeyCore
import LatchkeyHLS
import Testing

/// Which media playlists are read if one may replace others (HLS.md rule 23).
@Suite(.timeLimit(.minutes(5))) struct PathwayTests {
    private static let main = "https://cdn.example.com/main.m3u8"

    /// A stream with a ladder of variants: the key of each, from the lowest quality to the highest.
    private static func ladder(
        _ keys: [String], session: [String] = [], attributes: (Int) -> String = { _ in "" }
    ) -> MemoryFetcher {
        var playlists = [main: session.map { PlaylistText.sessionKey("skd://\($0)") }]
        for (index, key) in keys.enumerated() {
            playlists[main]?.append("#EXT-X-STREAM-INF:BANDWIDTH=\(1_000 + index)\(attributes(index))\n\(index).m3u8")
            playlists["https://cdn.example.com/\(index).m3u8"] = media(key)
        }
        return MemoryFetcher(playlists)
    }

    private static func media(_ key: String) -> [String] {
        ["#EXT-X-TARGETDURATION:6", PlaylistText.key("skd://\(key)"), PlaylistText.segment()]
    }

    private static func found(
        _ fetcher: MemoryFetcher, _ scope: KeyDiscovery.Scope = .representatives
    ) async throws -> DiscoveredKeys {
        try await KeyDiscovery(fetcher, scope: scope).keys(at: main)
    }

    @Test(arguments: [
        // One key for all: the ends are read.
        ("aaaaaaaaaaaa", 2), ("a", 1), ("ab", 2),
        // Keys by quality: halfway between two that differ.
        ("aaaaaabbbbbb", 6), ("aaabbbbbbccc", 10), ("abbbbbbbbbbb", 6), ("abcdefghijkl", 12),
    ])
    func `enough of a ladder's playlists are read to find its keys`(_ keys: String, _ most: Int) async throws {
        let fetcher = Self.ladder(keys.map(String.init))
        let found = try await Self.found(fetcher)
        #expect(Set(found.fairPlayURIs.map(\.raw)) == Set(keys.map { "skd://\($0)" }))
        #expect(fetcher.requests.count - 1 <= most, "\(fetcher.requests.count)")
        #expect(found.failures.isEmpty)
    }

    @Test func `quality is the order, however a playlist lists variants`() async throws {
        let sizes = ["640x360", "1920x1080", "3840x2160", "960x540", "1280x720", "320x180"]
        let fetcher = Self.ladder(["sd", "hd", "uhd", "sd", "hd", "sd"]) { ",RESOLUTION=\(sizes[$0])" }
        #expect(try await Self.found(fetcher).fairPlayURIs.count == 3)
    }

    @Test(arguments: [
        #",HDCP-LEVEL=TYPE-1"#, #",ALLOWED-CPC="com.apple.streamingkeydelivery:SmartTV""#, #",VIDEO-RANGE=PQ"#,
        #",CODECS="hvc1.2.4.L123""#,
    ])
    func `variants that the playlist distinguishes are all read`(_ attribute: String) async throws {
        let fetcher = Self.ladder(["a", "a", "b", "a", "a"]) { $0 == 2 ? attribute : "" }
        #expect(Set(try await Self.found(fetcher).fairPlayURIs) == ["skd://a", "skd://b"])
    }

    @Test func `session keys that cover the ends replace the playlists between`() async throws {
        let keys = ["sd", "sd", "hd", "hd", "uhd"]
        let fetcher = Self.ladder(keys, session: ["sd", "hd", "uhd"])
        #expect(try await Self.found(fetcher).fairPlayURIs.count == 3)
        #expect(fetcher.requests.count == 3)
        let incomplete = Self.ladder(keys, session: ["sd"])
        #expect(try await Self.found(incomplete).fairPlayURIs.count == 3)
    }

    /// The stream of content steering: twelve variants with their own keys and audio, at two hosts.
    private static func steered(_ attributes: String = #",PATHWAY-ID="A""#, missing: String? = nil) -> MemoryFetcher {
        var playlists = [main: [#"#EXT-X-CONTENT-STEERING:SERVER-URI="/steering"\#(attributes)"#]]
        for host in ["b", "a"] {
            for index in 0..<12 {
                let uri = "https://\(host).example.com/\(index).m3u8"
                playlists[main]?.append(
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(index),PATHWAY-ID=\"\(host.uppercased())\",AUDIO=\"\(host)\"\n\(uri)"
                )
                playlists[uri] = media("\(index)")
            }
            let audio = "https://\(host).example.com/audio.m3u8"
            playlists[main]?.append(#"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="\#(host)",NAME="n",URI="\#(audio)""#)
            playlists[audio] = media("audio")
        }
        if let missing { playlists[missing] = nil }
        return MemoryFetcher(playlists)
    }

    @Test(arguments: [KeyDiscovery.Scope.representatives, .onePathway])
    func `one pathway is read, the first of content steering`(_ scope: KeyDiscovery.Scope) async throws {
        let fetcher = Self.steered()
        let found = try await Self.found(fetcher, scope)
        #expect(found.fairPlayURIs.count == 13 && found.failures.isEmpty)
        #expect(fetcher.requests.count == 14)
        #expect(fetcher.requests.dropFirst().allSatisfy { $0.hasPrefix("https://a.") })
    }

    @Test(arguments: ["", #",PATHWAY-ID="unknown""#])
    func `without a known start the playlist's first pathway is read`(_ attributes: String) async throws {
        let fetcher = Self.steered(attributes)
        #expect(try await Self.found(fetcher).fairPlayURIs.count == 13)
        #expect(fetcher.requests.dropFirst().allSatisfy { $0.hasPrefix("https://b.") })
    }

    @Test func `another pathway is read if a playlist in the first is missing`() async throws {
        let fetcher = Self.steered(missing: "https://a.example.com/audio.m3u8")
        let found = try await Self.found(fetcher)
        #expect(found.fairPlayURIs.count == 13 && found.failures.isEmpty)
        #expect(fetcher.requests.last?.hasPrefix("https://b.") == true)
    }

    /// hls.js#5074.
    @Test(arguments: [KeyDiscovery.Scope.representatives, .onePathway], [["a0", "a1"], ["a0", "b1", "b2"], ["a2"]])
    func `a variant that repeats another is read if that one fails`(
        _ scope: KeyDiscovery.Scope, missing: [String]
    ) async throws {
        var playlists = [Self.main: [String]()]
        for (index, key) in ["sd", "sd", "hd"].enumerated() {
            for host in ["a", "b"] {
                let uri = "https://\(host).example.com/\(index).m3u8"
                playlists[Self.main]?.append("#EXT-X-STREAM-INF:BANDWIDTH=\(index + 1)\n\(uri)")
                if !missing.contains("\(host)\(index)") { playlists[uri] = Self.media(key) }
            }
        }
        let fetcher = MemoryFetcher(playlists)
        let found = try await Self.found(fetcher, scope)
        #expect(Set(found.fairPlayURIs) == ["skd://sd", "skd://hd"] && found.failures.isEmpty)
        #expect(!fetcher.requests.contains("https://b.example.com/1.m3u8") || missing.contains("a1"))
        #expect(fetcher.requests.count <= 4 + missing.count)
    }

    @Test func `if each pathway lacks a playlist, the first one's failure is reported, and the limit holds`()
        async throws
    {
        var playlists = [Self.main: [String]()]
        for name in ["A", "B"] {
            playlists[Self.main]?.append(
                "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\(name)\"\nhttps://x.example.com/\(name)")
        }
        let fetcher = MemoryFetcher(playlists)
        #expect(try await Self.found(fetcher).failures.map(\.uri) == ["https://x.example.com/A"])
        var discovery = KeyDiscovery(Self.steered(), scope: .representatives)
        discovery.maximumPlaylists = 5
        let few = try await discovery.keys(at: Self.main)
        #expect(few.playlists.count == 5 && !few.failures.isEmpty)
    }
}
