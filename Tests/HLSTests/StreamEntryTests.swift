import LatchkeyHLS
import Testing

@Suite struct StreamEntryTests {
    @Test func `variants, renditions and I-frame playlists come in order`() throws {
        let streams = try PlaylistText.multivariant(
            [
                #"#EXT-X-MEDIA:TYPE=AUDIO,URI="a/en.m3u8",GROUP-ID="aud",NAME="English, UK",LANGUAGE="en""#,
                #"#EXT-X-STREAM-INF:BANDWIDTH=608163,AVERAGE-BANDWIDTH=570568,CODECS="avc1,mp4a",RESOLUTION=640x360,AUDIO="aud""#,
                "# a comment between", "v.m3u8", #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=44384,URI="iframe.m3u8""#,
                #"#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC""#,
            ], uri: "https://cdn.example.com/x/main.m3u8"
        ).streams
        #expect(
            streams.map(\.kind) == [
                .rendition(type: "AUDIO"), .variant, .iFrames, .rendition(type: "CLOSED-CAPTIONS"),
            ])
        #expect(
            streams.map(\.uri) == [
                "https://cdn.example.com/x/a/en.m3u8", "https://cdn.example.com/x/v.m3u8",
                "https://cdn.example.com/x/iframe.m3u8", nil,
            ])
        #expect(streams.map(\.bandwidth) == [nil, 608_163, 44_384, nil])
        #expect(streams.map(\.groupID) == ["aud", nil, nil, "cc"])
        #expect(streams.map(\.resolution?.width) == [nil, 640, nil, nil])
        #expect(streams.map(\.resolution?.height) == [nil, 360, nil, nil])
        #expect(streams[1].groups == ["AUDIO": "aud"])
        #expect(streams[0].name == "English, UK")
        #expect(streams.map(\.line) == [2, 3, 6, 7])
    }

    @Test(arguments: ["640", "640x", "x360", "640X360", "-1x2", "1x2x3", "99999999999999999999x1"])
    func `an invalid resolution is left out`(_ text: String) throws {
        let lines = ["#EXT-X-STREAM-INF:BANDWIDTH=x,RESOLUTION=\(text)", "v"]
        let stream = try #require(try PlaylistText.multivariant(lines).streams.first)
        #expect(stream.resolution == nil && stream.bandwidth == nil)
    }

    @Test func `a variant without a URI line is reported`() throws {
        let lines = [
            "#EXT-X-STREAM-INF:BANDWIDTH=1", "#EXT-X-STREAM-INF:BANDWIDTH=2", "v", "#EXT-X-STREAM-INF:BANDWIDTH=3",
        ]
        let playlist = try PlaylistText.multivariant(lines)
        #expect(playlist.streams.map(\.uri) == [nil, "v", nil])
        #expect(playlist.warnings.map(\.line) == [2, 5])
    }
}
