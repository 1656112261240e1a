import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

/// Rules 5 to 17 of `Documentation/HLS.md` §7: the keys in force, and the meaning of a key tag.
@Suite struct KeyRuleTests {
    private static let widevine = #"KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed",KEYFORMATVERSIONS="1""#
    private static let segment = PlaylistText.segment()

    private func runs(_ lines: [String]) throws -> [[Int]] {
        try PlaylistText.media(lines).segmentRuns.map { [$0.first, $0.count] + $0.keys }
    }

    @Test func `a key replaces only keys of its format`() throws {
        let lines = [
            PlaylistText.key("skd://1"), PlaylistText.key("data:1", Self.widevine), Self.segment, Self.segment,
            PlaylistText.key("skd://2"), Self.segment, PlaylistText.key("data:2", Self.widevine), Self.segment,
        ]
        #expect(try runs(lines) == [[0, 2, 0, 1], [2, 1, 1, 2], [3, 1, 2, 3]])
    }

    @Test func `the later of two keys of one format before a segment wins`() throws {
        #expect(try runs([PlaylistText.key("skd://1"), PlaylistText.key("skd://2"), Self.segment]) == [[0, 1, 1]])
    }

    @Test func `a key between EXTINF and the URI counts for that segment`() throws {
        let lines = [PlaylistText.key("skd://1"), "#EXTINF:6,", PlaylistText.key("skd://2"), "s.m4s"]
        #expect(try runs(lines) == [[0, 1, 1]])
    }

    @Test func `NONE ends the keys of all formats`() throws {
        let lines = [
            PlaylistText.key("skd://1"), PlaylistText.key("data:1", Self.widevine), Self.segment,
            "#EXT-X-KEY:METHOD=NONE", Self.segment, Self.segment,
        ]
        #expect(try runs(lines) == [[0, 1, 0, 1], [1, 2]])
    }

    @Test func `NONE among clear segments starts no run`() throws {
        #expect(try runs([Self.segment, "#EXT-X-KEY:METHOD=NONE", Self.segment]) == [[0, 2]])
    }

    @Test func `NONE with other attributes still ends all keys and is reported`() throws {
        let lines = [PlaylistText.key("skd://1"), PlaylistText.key("skd://2", method: "NONE"), Self.segment]
        let playlist = try PlaylistText.media(lines)
        #expect(playlist.segmentRuns.map(\.keys) == [[]])
        #expect(playlist.fairPlayURIs == ["skd://1"])
        #expect(playlist.warnings.map(\.line) == [4])
    }

    @Test(arguments: [
        "#EXT-X-DISCONTINUITY", #"#EXT-X-MAP:URI="i.mp4""#, "#EXT-X-BYTERANGE:10@0", "#EXT-X-I-FRAMES-ONLY",
        #"#EXT-X-PART:DURATION=1,URI="p.mp4""#, "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z", "# comment", "",
    ])
    func `other tags change no key`(_ line: String) throws {
        #expect(try runs([PlaylistText.key("skd://1"), Self.segment, line, Self.segment]) == [[0, 2, 0]])
    }

    @Test func `segments before the first key and without any key are clear`() throws {
        #expect(try runs([Self.segment, PlaylistText.key("skd://1"), Self.segment]) == [[0, 1], [1, 1, 0]])
        #expect(try runs([Self.segment, Self.segment]) == [[0, 2]])
    }

    @Test func `a key after the last segment opens none and is still found`() throws {
        let playlist = try PlaylistText.media([Self.segment, PlaylistText.key("skd://next")])
        #expect(playlist.segmentRuns.map(\.keys) == [[]])
        #expect(playlist.fairPlayURIs == ["skd://next"])
    }

    @Test func `a delta update is reported`() throws {
        let playlist = try PlaylistText.media(["#EXT-X-SKIP:SKIPPED-SEGMENTS=3", Self.segment])
        #expect(playlist.warnings.map(\.line) == [3])
    }

    @Test(arguments: [
        ("AES-128", KeyMethod.aes128), ("SAMPLE-AES", .sampleAES), ("SAMPLE-AES-CTR", .sampleAESCTR),
        ("sample-aes", .other("sample-aes")), ("ISO-23001-7", .other("ISO-23001-7")),
    ])
    func `methods are known by their exact names`(_ text: String, _ method: KeyMethod) throws {
        let playlist = try PlaylistText.media([PlaylistText.key("skd://1", method: text)])
        #expect(playlist.keyTags.map(\.method) == [method])
        #expect(playlist.keyTags.map(\.method.text) == [text])
        #expect(playlist.warnings.isEmpty == (text == text.uppercased() && text != "ISO-23001-7"))
    }

    @Test(arguments: [
        ("", false), (#"KEYFORMAT="identity""#, false), (PlaylistText.fairPlay, true),
        (#"KEYFORMAT="com.apple.streamingkeydelivery ""#, false),
    ])
    func `KEYFORMAT, not a scheme, makes a key FairPlay's`(_ format: String, _ isFairPlay: Bool) throws {
        let separator = format.isEmpty ? "" : ","
        let lines = ["skd://a", "https://a/b"].map {
            #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="\#($0)"\#(separator)\#(format)"#
        }
        let playlist = try PlaylistText.media(lines)
        #expect(playlist.keyTags.map(\.isFairPlay) == [isFairPlay, isFairPlay])
        #expect(playlist.keyTags.map(\.statesFormat) == [!format.isEmpty, !format.isEmpty])
    }

    @Test(arguments: [("1", [1], 0), ("1/2/5", [1, 2, 5], 0), ("0", [], 1), ("1/", [], 1), ("x", [], 1), ("", [], 1)])
    func `versions are numbers joined by slashes`(_ text: String, _ versions: [Int], _ warnings: Int) throws {
        let rest = #"KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="\#(text)""#
        let playlist = try PlaylistText.media([PlaylistText.key("skd://1", rest)])
        #expect(playlist.keyTags.map(\.supportedVersions) == [versions])
        #expect(playlist.warnings.count == warnings)
    }

    @Test func `session keys come first among the FairPlay URIs, each once`() throws {
        let playlist = try PlaylistText.multivariant([
            "#EXT-X-STREAM-INF:BANDWIDTH=1", "v.m3u8", PlaylistText.sessionKey("skd://b"),
            PlaylistText.sessionKey("data:1", Self.widevine), PlaylistText.sessionKey("skd://a"),
            PlaylistText.sessionKey("skd://b", PlaylistText.fairPlay + ",IV=0x1"),
        ])
        #expect(playlist.fairPlayURIs == ["skd://b", "skd://a"])
        #expect(playlist.warnings.isEmpty)
    }

    @Test func `a repeated session key is reported`() throws {
        let line = PlaylistText.sessionKey("skd://a")
        #expect(try PlaylistText.multivariant([line, line]).warnings.map(\.line) == [3])
    }

    @Test func `a session key without encryption is refused`() {
        #expect(
            PlaylistText.code { try PlaylistText.multivariant(["#EXT-X-SESSION-KEY:METHOD=NONE"]) }
                == "sessionKeyMethod")
    }

    @Test func `a media key in a multivariant playlist makes it neither`() {
        let lines = [PlaylistText.sessionKey("skd://a"), PlaylistText.key("skd://a")]
        #expect(PlaylistText.code { try PlaylistText.multivariant(lines) } == "mixedKinds")
    }
}
