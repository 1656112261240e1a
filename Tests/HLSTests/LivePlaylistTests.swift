import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

/// Delta updates, partial segments and interstitials.
@Suite(.timeLimit(.minutes(5))) struct LivePlaylistTests {
    private static func copy(_ lines: [String], sequence: Int = 10) throws -> Playlist {
        try PlaylistText.media(["#EXT-X-MEDIA-SEQUENCE:\(sequence)"] + lines)
    }

    private static func update(_ copy: Playlist, _ lines: [String], sequence: Int = 10) throws -> Playlist {
        let all = ["#EXTM3U", "#EXT-X-TARGETDURATION:6", "#EXT-X-MEDIA-SEQUENCE:\(sequence)"] + lines
        return try PlaylistText.read(all, PlaylistContext(earlierCopy: EarlierCopy(copy)))
    }

    private static func segments(_ count: Int) -> [String] { Array(repeating: PlaylistText.segment(), count: count) }

    @Test func `the keys of skipped segments, and the key in force after them, come from the previous copy`() throws {
        let copy = try Self.copy(
            [PlaylistText.key("skd://old")] + Self.segments(2) + [PlaylistText.key("skd://1")] + Self.segments(2)
                + [PlaylistText.key("skd://2")] + Self.segments(3))
        let playlist = try Self.update(
            copy,
            ["#EXT-X-SKIP:SKIPPED-SEGMENTS=4"] + Self.segments(1) + [PlaylistText.key("skd://3")] + Self.segments(1),
            sequence: 12)
        #expect(playlist.fairPlayURIs == ["skd://1", "skd://2", "skd://3"])
        #expect(playlist.segmentRuns.map(\.keys) == [[1], [2]] && playlist.skippedSegments == 4)
        #expect(playlist.warnings.isEmpty)
        let listed = try playlist.segments()
        #expect(listed.map(\.sequenceNumber) == [16, 17])
        #expect(listed.map { $0.keys.map { playlist.keyTags[$0].uri } } == [["skd://2"], ["skd://3"]])
    }

    @Test func `an update of an update knows the keys of both`() throws {
        let copy = try Self.copy([PlaylistText.key("skd://1")] + Self.segments(4))
        let first = try Self.update(
            copy, ["#EXT-X-SKIP:SKIPPED-SEGMENTS=4", PlaylistText.key("skd://2")] + Self.segments(1))
        let second = try Self.update(first, ["#EXT-X-SKIP:SKIPPED-SEGMENTS=4"] + Self.segments(2), sequence: 11)
        #expect(second.fairPlayURIs == ["skd://1", "skd://2"])
        #expect(try second.segments().map { $0.keys.map { second.keyTags[$0].uri } } == [["skd://2"], ["skd://2"]])
    }

    @Test(arguments: [
        (11, 4), (9, 1), (10, 5), (Int.max, 1), (Int.min, 1), (10, Int.max), (10, -1),
    ])
    func `segments missing from the previous copy are reported`(sequence: Int, count: Int) throws {
        let copy = try Self.copy([PlaylistText.key("skd://1")] + Self.segments(4))
        let playlist = try Self.update(
            copy, ["#EXT-X-SKIP:SKIPPED-SEGMENTS=\(count)"] + Self.segments(1), sequence: sequence)
        #expect(playlist.keyTags.isEmpty && playlist.warnings.map(\.line) == [4])
    }

    @Test func `the key of partial segments after the last segment is known`() throws {
        let playlist = try PlaylistText.media([
            PlaylistText.key("skd://1"), PlaylistText.segment(), PlaylistText.key("skd://2"),
            #"#EXT-X-PART:DURATION=1,URI="part.m4s""#,
        ])
        #expect(playlist.fairPlayURIs == ["skd://1", "skd://2"] && playlist.keysAtEnd == [1])
        #expect(playlist.segmentRuns.map(\.keys) == [[0]])
    }

    private static let hint =
        ##"#EXT-X-PRELOAD-HINT:TYPE=KEY,METHOD=SAMPLE-AES,KEYFORMAT="com.apple.streamingkeydelivery","##

    @Test(arguments: [
        ("2026-08-06T12:00:08Z", 1_786_017_608.0), ("2026-08-06T14:00:08.500+02:00", 1_786_017_608.5),
        ("tomorrow", nil),
    ])
    func `a hint names the next key and its first use, and no key in use`(text: String, seconds: Double?) throws {
        let playlist = try PlaylistText.media([
            PlaylistText.key("skd://1"), PlaylistText.segment(),
            Self.hint + #"URI="skd://next",DATE-OF-FIRST-USE="\#(text)""#,
        ])
        #expect(playlist.hintedKey?.uri == "skd://next" && playlist.hintedKey?.isFairPlay == true)
        #expect(playlist.hintedKey?.firstUse == seconds.map { Date(timeIntervalSince1970: $0) })
        #expect(playlist.fairPlayURIs == ["skd://1"] && playlist.keysAtEnd == [0])
    }

    @Test func `the first hint of a key counts, and variables are replaced`() throws {
        let playlist = try PlaylistText.media([
            #"#EXT-X-DEFINE:NAME="next",VALUE="2""#, PlaylistText.segment(),
            #"#EXT-X-PRELOAD-HINT:TYPE=PART,URI="part.m4s""#,
            Self.hint + #"URI="skd://{$next}""#, Self.hint + #"URI="skd://3""#,
        ])
        #expect(playlist.hintedKey?.uri == "skd://2" && playlist.hintedKey?.line == 7)
        #expect(playlist.warnings.isEmpty)
    }

    @Test(arguments: [
        (#"#EXT-X-PRELOAD-HINT:TYPE=MAP,URI="init.mp4""#, 0), ("#EXT-X-PRELOAD-HINT:TYPE=KEY", 1),
        (#"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="""#, 1), (#"#EXT-X-PRELOAD-HINT:TYPE=KEY,METHOD=NONE,URI="skd://1""#, 0),
        (#"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="open"#, 0), ("#EXT-X-PRELOAD-HINT:?", 0),
    ])
    func `a hint that names no key hides none`(line: String, warnings: Int) throws {
        let playlist = try PlaylistText.media([PlaylistText.key("skd://1"), PlaylistText.segment(), line])
        #expect(playlist.hintedKey == nil && playlist.fairPlayURIs == ["skd://1"])
        #expect(playlist.warnings.count == warnings)
    }

    @Test func `each hinted key is found once, and not where it is already in use`() async throws {
        let url = { (name: String) in "https://cdn.example.com/\(name)" }
        let media = ["#EXT-X-TARGETDURATION:6"]
        let fetcher = MemoryFetcher([
            url("main.m3u8"): ["#EXT-X-STREAM-INF:BANDWIDTH=1", "a.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=2", "b.m3u8"]
                + ["#EXT-X-STREAM-INF:BANDWIDTH=3", "c.m3u8"],
            url("a.m3u8"): media + [
                PlaylistText.key("skd://1"), PlaylistText.segment(), Self.hint + #"URI="skd://2""#,
            ],
            url("b.m3u8"): media + [
                PlaylistText.key("skd://1"), PlaylistText.segment(), Self.hint + #"URI="skd://3""#,
            ],
            url("c.m3u8"): media + [
                PlaylistText.key("skd://3"), PlaylistText.segment(), Self.hint + #"URI="skd://2""#,
            ],
        ])
        let found = try await KeyDiscovery(fetcher).keys(at: url("main.m3u8"))
        #expect(found.fairPlayURIs == ["skd://1", "skd://3"])
        #expect(found.hintedKeys.map(\.uri) == ["skd://2"])
    }

    private static let interstitial =
        #"#EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z","#

    @Test func `an interstitial names an asset, or a list of assets`() throws {
        let playlist = try PlaylistText.media(
            [
                Self.interstitial + #"X-ASSET-URI="../ad/main.m3u8""#, Self.interstitial + #"X-ASSET-LIST="list.json""#,
                Self.interstitial + "X-PLAYOUT-LIMIT=5",
                #"#EXT-X-DATERANGE:ID="x",CLASS="other",X-ASSET-URI="no.m3u8""#,
                PlaylistText.segment(),
            ], uri: "https://cdn.example.com/x/video.m3u8")
        #expect(playlist.interstitials.map(\.assetURI) == ["https://cdn.example.com/ad/main.m3u8", nil])
        #expect(playlist.interstitials.map(\.assetListURI) == [nil, "https://cdn.example.com/x/list.json"])
        #expect(playlist.interstitials.map(\.id) == ["ad", "ad"] && playlist.interstitials.map(\.line) == [3, 4])
    }

    @Test(arguments: [
        #"#EXT-X-DATERANGE:ID="x",CLASS="com.apple.hls.interstitial",X-ASSET-URI="open"#, "#EXT-X-DATERANGE:?",
    ])
    func `a malformed date range hides no key`(line: String) throws {
        let playlist = try PlaylistText.media([PlaylistText.key("skd://1"), line, PlaylistText.segment()])
        #expect(playlist.fairPlayURIs == ["skd://1"] && playlist.interstitials.isEmpty)
    }

    @Test func `the keys of interstitials are found on request, and no deeper`() async throws {
        let (main, url) = ("https://cdn.example.com/main.m3u8", { (name: String) in "https://cdn.example.com/\(name)" })
        let media = ["#EXT-X-TARGETDURATION:6"]
        let fetcher = MemoryFetcher([
            main: ["#EXT-X-STREAM-INF:BANDWIDTH=1", "video.m3u8"],
            url("video.m3u8"): media + [
                PlaylistText.key("skd://1"), Self.interstitial + #"X-ASSET-URI="ad.m3u8""#,
                Self.interstitial + #"X-ASSET-URI="file:///etc/passwd""#, PlaylistText.segment(),
            ],
            url("ad.m3u8"): ["#EXT-X-STREAM-INF:BANDWIDTH=1", "ad-video.m3u8"],
            url("ad-video.m3u8"): media + [
                PlaylistText.key("skd://ad"), Self.interstitial + #"X-ASSET-URI="deeper.m3u8""#, PlaylistText.segment(),
            ],
        ])
        var discovery = KeyDiscovery(fetcher)
        #expect(try await discovery.keys(at: main).fairPlayURIs == ["skd://1"])
        discovery.includesInterstitials = true
        let found = try await discovery.keys(at: main)
        #expect(found.fairPlayURIs == ["skd://1", "skd://ad"])
        #expect(found.failures.map(\.uri) == ["file:///etc/passwd"])
        #expect(!fetcher.requests.contains(url("deeper.m3u8")))
    }
}
