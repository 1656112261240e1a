import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

/// Playlists at and beyond the limits, and generated garbage.
@Suite struct PlaylistExtremesTests {
    private func limited(_ change: (inout PlaylistLimits) -> Void) -> PlaylistContext {
        var limits = PlaylistLimits()
        change(&limits)
        return PlaylistContext(limits: limits)
    }

    private static let media = ["#EXTM3U", "#EXT-X-TARGETDURATION:6"]

    @Test(
        arguments: [
            (\PlaylistLimits.totalBytes, 40, ["#EXTM3U", "#EXT-X-ENDLIST", "#12345678901234567890"]),
            (\.lineBytes, 20, ["#EXTM3U", "#EXT-X-ENDLIST", "#12345678901234567890"]),
            (\.keyTags, 1, ["#EXTM3U", PlaylistText.key("a"), PlaylistText.key("b")]),
            (\.keyTags, 1, ["#EXTM3U", PlaylistText.sessionKey("a"), PlaylistText.sessionKey("b")]),
            (\.keyFormatsInForce, 1, ["#EXTM3U", PlaylistText.key("a"), PlaylistText.key("b", #"KEYFORMAT="x""#)]),
            (\.attributesPerTag, 3, ["#EXTM3U", PlaylistText.key("a")]),
            (\.variables, 0, ["#EXTM3U", #"#EXT-X-DEFINE:NAME="a",VALUE="b""#]),
            (\.insertedBytes, 3, ["#EXTM3U", #"#EXT-X-DEFINE:NAME="a",VALUE="bb""#, PlaylistText.key("{$a}{$a}")]),
            (
                \.keysOfRuns, 1,
                ["#EXTM3U", PlaylistText.key("a"), "s", PlaylistText.key("b"), "s", PlaylistText.key("c"), "s"]
            ), (\.streams, 1, ["#EXTM3U", "#EXT-X-STREAM-INF:BANDWIDTH=1", "v", "#EXT-X-MEDIA:TYPE=AUDIO"]),
        ] as [(any WritableKeyPath<PlaylistLimits, Int> & Sendable, Int, [String])])
    func `each limit refuses by its own code`(
        _ limit: any WritableKeyPath<PlaylistLimits, Int> & Sendable, _ value: Int, _ lines: [String]
    ) {
        let context = limited { $0[keyPath: limit] = value }
        #expect(PlaylistText.code { try PlaylistText.read(lines, context) } == "limitExceeded")
    }

    @Test func `more segments than may be listed are still counted`() throws {
        let lines = Self.media + [PlaylistText.segment("a"), PlaylistText.segment("b")]
        let playlist = try PlaylistText.read(lines, limited { $0.listedSegments = 1 })
        #expect(playlist.segmentCount == 2)
        #expect(throws: PlaylistError.self) { try playlist.segments() }
    }

    @Test func `warnings stop at their limit`() throws {
        let lines = Self.media + Array(repeating: "#\u{1}", count: 50)
        #expect(try PlaylistText.read(lines, limited { $0.warnings = 5 }).warnings.count == 5)
    }

    @Test func `a line of ten megabytes is refused by default and read on demand`() throws {
        let lines = Self.media + [String(repeating: "s", count: 10 << 20)]
        #expect(PlaylistText.code { try PlaylistText.read(lines) } == "limitExceeded")
        #expect(try PlaylistText.read(lines, limited { $0.lineBytes = 10 << 20 }).segmentCount == 1)
    }

    @Test func `a hundred thousand keys of 31 systems are refused before their runs fill memory`() {
        let lines = (0..<100_000).map { PlaylistText.key("skd://\($0)", "KEYFORMAT=\"f\($0 % 31)\"") + "\ns" }
        #expect(PlaylistText.code { try PlaylistText.read(Self.media + lines) } == "limitExceeded")
    }

    @Test func `variables that multiply are refused if they insert more than eight megabytes`() {
        let definition = "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(String(repeating: "v", count: 10_000))\""
        let key = PlaylistText.key("skd://" + String(repeating: "{$a}", count: 1_000))
        #expect(PlaylistText.code { try PlaylistText.read(Self.media + [definition, key]) } == "limitExceeded")
    }

    @Test func `a hundred thousand key tags make as many runs`() throws {
        let lines = (0..<100_000).map { PlaylistText.key("skd://\($0)") + "\ns" }
        let playlist = try PlaylistText.read(Self.media + lines)
        #expect(playlist.fairPlayURIs.count == 100_000)
        #expect(playlist.segmentRuns.last == playlist.segmentRuns.dropFirst(99_999).first)
        #expect(playlist.segmentRuns.last?.keys == [99_999])
    }

    @Test func `many braces and references cost no more than their length`() throws {
        let braces = String(repeating: "{$a", count: 100_000)
        let lines = Self.media + [#"#EXT-X-DEFINE:NAME="a",VALUE="b""#, braces, String(repeating: "{", count: 500_000)]
        #expect(try PlaylistText.read(lines).segments().map(\.uri.utf8.count) == [300_000, 500_000])
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `random bytes after the header never crash`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let noise = generator.bytes(Int.random(in: 0..<400, using: &generator))
            let code = PlaylistText.code { try Playlist(Data("#EXTM3U\n".utf8) + noise) }
            #expect(code != "another error")
        }
    }

    @Test(arguments: [UInt64(5), 6, 7, 8]) func `random lines of playlists are read or refused`(_ seed: UInt64) {
        let pieces = [
            "#EXTM3U", "#EXT-X-KEY:", "#EXT-X-SESSION-KEY:", "METHOD=", "SAMPLE-AES", "NONE", ",", "\"", "=",
            "URI=\"a\"",
            "{$a}", "{$", "}", "#EXT-X-DEFINE:", "NAME=\"a\",VALUE=\"b\"", "IMPORT=\"a\"", "#EXT-X-MAP:", "\n", "\r\n",
            "\n", "\n", " ", "#EXTINF:6,", "#EXT-X-BYTERANGE:", "9223372036854775807", "@", "-1", "#EXT-X-STREAM-INF:",
            "é", "IV=0x", "KEYFORMAT=\"x\"", "#EXT-X-MEDIA-SEQUENCE:", "RESOLUTION=1x1", "\u{0}",
        ]
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let text = (0..<40).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let code = PlaylistText.code {
                let playlist = try Playlist(Data("#EXTM3U\n#EXTINF:6,\n\(text)".utf8))
                _ = try playlist.segments()
                return playlist
            }
            #expect(code != "another error")
        }
    }

    @Test func `a slice of data is read within its bounds`() throws {
        let whole = Data("xx#EXTM3U\n#EXT-X-ENDLIST\nyy".utf8)
        let slice = whole.dropFirst(2).dropLast(2)
        #expect(try Playlist(slice).segmentCount == 0)
        #expect(try Playlist(slice).segments().isEmpty)
    }
}
