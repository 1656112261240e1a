import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

@Suite struct MediaSegmentTests {
    private static let base = "https://cdn.example.com/v/p.m3u8?token=1"

    private func segments(_ lines: [String]) throws -> [MediaSegment] {
        try PlaylistText.media(lines, uri: Self.base).segments()
    }

    @Test func `a segment has its resolved URI, its number, duration and line`() throws {
        let segments = try segments([
            "#EXT-X-MEDIA-SEQUENCE:41", "#EXTINF:2.5,title", "a/1.ts", "#EXT-X-DISCONTINUITY", "#EXTINF:nan,", "/2.ts",
        ])
        #expect(segments.map(\.uri) == ["https://cdn.example.com/v/a/1.ts", "https://cdn.example.com/2.ts"])
        #expect(segments.map(\.sequenceNumber) == [41, 42])
        #expect(segments.map(\.duration) == [2.5, nil])
        #expect(segments.map(\.followsDiscontinuity) == [false, true])
        #expect(segments.map(\.line) == [5, 8])
    }

    @Test func `byte ranges continue the previous segment of the same resource`() throws {
        let segments = try segments([
            "#EXT-X-BYTERANGE:10@100", "a.mp4", "#EXT-X-BYTERANGE:5", "a.mp4", "#EXT-X-BYTERANGE:7@0", "b.mp4", "c.mp4",
        ])
        #expect(segments.map(\.byteRange?.offset) == [100, 110, 0, nil])
        #expect(segments.map(\.byteRange?.length) == [10, 5, 7, nil])
    }

    @Test(arguments: [
        ["#EXT-X-BYTERANGE:5", "a"], ["#EXT-X-BYTERANGE:5@0", "a", "#EXT-X-BYTERANGE:5", "b"],
        ["#EXT-X-BYTERANGE:-5@0", "a"], ["#EXT-X-BYTERANGE:", "a"], ["#EXT-X-BYTERANGE:1@2@3", "a"],
        ["#EXT-X-BYTERANGE:9223372036854775807@1", "a"], [#"#EXT-X-MAP:URI="i",BYTERANGE="x""#, "a"],
        [
            "#EXT-X-BYTERANGE:1@9223372036854775806", "a", "#EXT-X-BYTERANGE:9223372036854775807", "a",
            "#EXT-X-BYTERANGE:1", "a",
        ],
    ])
    func `an invalid byte range is refused when segments are listed`(_ lines: [String]) throws {
        let playlist = try PlaylistText.media(lines)
        let error = #expect(throws: PlaylistError.self) { try playlist.segments() }
        #expect(error?.code == "malformedSegment")
    }

    @Test func `a map applies to the segments after it and has the keys of its line`() throws {
        let segments = try segments([
            #"#EXT-X-MAP:URI="clear.mp4""#, PlaylistText.segment(), PlaylistText.key("skd://1"), PlaylistText.segment(),
            #"#EXT-X-MAP:URI="enc.mp4",BYTERANGE="20@4""#, PlaylistText.segment(),
        ])
        #expect(segments.map(\.keys) == [[], [0], [0]])
        #expect(segments.map(\.map?.keys) == [[], [], [0]])
        #expect(segments.last?.map?.uri == "https://cdn.example.com/v/enc.mp4")
        #expect(segments.map(\.map?.byteRange?.offset) == [nil, nil, 4])
    }

    @Test func `a map without a URI is refused`() throws {
        let playlist = try PlaylistText.media(["#EXT-X-MAP:BYTERANGE=\"1@0\"", "a"])
        #expect(throws: PlaylistError.self) { try playlist.segments() }
    }

    @Test(arguments: Corpus.entries.filter { !$0.mustFail })
    func `the keys of each segment are those of its run`(_ entry: Corpus.Entry) throws {
        let playlist = try Playlist(entry.bytes, context: entry.context)
        let byRun = playlist.segmentRuns.flatMap { Array(repeating: $0.keys, count: $0.count) }
        #expect(try playlist.segments().map(\.keys) == byRun)
    }

    @Test func `a multivariant playlist has no segments`() throws {
        let playlist = try PlaylistText.multivariant(["#EXT-X-STREAM-INF:BANDWIDTH=1", "v.m3u8", "stray.m3u8"])
        #expect(try playlist.segments().isEmpty)
        #expect(playlist.segmentCount == 0 && playlist.segmentRuns.isEmpty)
    }
}
