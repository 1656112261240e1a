import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

/// Rules 1 to 4 of `Documentation/HLS.md` §7: lines, tags, attribute lists.
@Suite struct PlaylistTextRuleTests {
    @Test(arguments: [
        ("a byte order mark", [0xef, 0xbb, 0xbf] + Array("#EXTM3U\n#EXT-X-ENDLIST".utf8), "notUTF8"),
        ("bytes that are not UTF-8", Array("#EXTM3U\n#EXT-X-ENDLIST\n#".utf8) + [0xc3, 0x28], "notUTF8"),
        ("gzip", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff], "compressed"),
        ("UTF-16", [0xff, 0xfe, 0x23, 0x00, 0x45, 0x00], "notUTF8"),
        ("lone CRs", Array("#EXTM3U\r#EXT-X-ENDLIST\r".utf8), "missingHeader"),
        ("nothing", [], "missingHeader"),
        ("a blank line first", Array("\n#EXTM3U\n#EXT-X-ENDLIST".utf8), "missingHeader"),
        ("another first tag", Array("#EXTM3U8\n#EXT-X-ENDLIST".utf8), "missingHeader"),
        ("an error page", Array("<html><body>#EXTM3U</body></html>".utf8), "missingHeader"),
        ("the header alone", Array("#EXTM3U".utf8), "unknownKind"),
        ("only NUL bytes", [UInt8](repeating: 0, count: 500), "missingHeader"),
        ("tags of both kinds", Array("#EXTM3U\n#EXT-X-ENDLIST\n#EXT-X-SESSION-DATA:A=1".utf8), "mixedKinds"),
    ])
    func `text that is not a playlist is refused`(_ name: String, _ bytes: [UInt8], _ code: String) {
        #expect(PlaylistText.code { try Playlist(Data(bytes)) } == code)
    }

    @Test(arguments: ["\n", "\r\n"]) func `lines end with LF or CR LF`(_ lineEnd: String) throws {
        let lines = ["#EXTM3U", PlaylistText.key("skd://a"), "", "#EXTINF:6,", "s.m4s", "#EXT-X-ENDLIST"]
        let playlist = try Playlist(Data(lines.joined(separator: lineEnd).utf8))
        #expect(playlist.fairPlayURIs == ["skd://a"])
        #expect(playlist.keyTags.map(\.line) == [2])
        #expect(try playlist.segments().map(\.uri) == ["s.m4s"])
        #expect(playlist.isComplete)
    }

    @Test func `a control character is reported and does not end the reading`() throws {
        let playlist = try PlaylistText.media(["#EXT-X-KEY-\u{0}", PlaylistText.segment("a\u{7f}b")])
        #expect(playlist.warnings.map(\.line) == [3, 5])
        #expect(playlist.segmentCount == 1)
    }

    @Test func `non-ASCII letters are read unchanged`() throws {
        let playlist = try PlaylistText.media([PlaylistText.key("skd://clé/映画"), PlaylistText.segment("é.m4s")])
        #expect(playlist.fairPlayURIs.map(\.raw) == ["skd://clé/映画"])
        #expect(playlist.warnings.isEmpty)
    }

    @Test(arguments: ["#EXT-X-KEYS:", "##EXT-X-KEY:", "# EXT-X-KEY:", "#ext-x-key:", "#EXT-X-KE:", "#EXTX-KEY:"])
    func `tags match whole and with case`(_ start: String) throws {
        let playlist = try PlaylistText.media([start + #"METHOD=SAMPLE-AES,URI="skd://no""#, PlaylistText.segment()])
        #expect(playlist.keyTags.isEmpty && playlist.warnings.isEmpty)
    }

    @Test(arguments: [
        ("METHOD", "malformedAttributes"),
        ("", "missingAttribute"),
        ("=SAMPLE-AES", "malformedAttributes"),
        (#"URI="skd://a""#, "missingAttribute"),
        (#"METHOD=,URI="skd://a""#, "missingAttribute"),
        ("METHOD=SAMPLE-AES", "missingAttribute"),
        (#"METHOD=SAMPLE-AES,URI="""#, "missingAttribute"),
        (#"METHOD=SAMPLE-AES,URI="skd://a"#, "malformedAttributes"),
        (#"METHOD=SAMPLE-AES,URI="skd://a"x"#, "malformedAttributes"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",URI="skd://b""#, "duplicateAttribute"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",,IV=0x1"#, "malformedAttributes"),
        ("METHOD=SAMPLE-AES,URI=\"skd://a\rb\"", "malformedAttributes"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",IV=0x"#, "malformedValue"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",IV=12"#, "malformedValue"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",IV=0x0g"#, "malformedValue"),
        (#"METHOD=SAMPLE-AES,URI="skd://a",IV=0x000000000000000000000000000000000"#, "malformedValue"),
    ])
    func `a malformed key tag is refused with its line`(_ attributes: String, _ code: String) throws {
        let error = #expect(throws: PlaylistError.self) {
            try PlaylistText.media(["#EXT-X-KEY:\(attributes)", PlaylistText.segment()])
        }
        #expect(error?.code == code)
        #expect(error?.line == 3)
        #expect(error?.description.contains("skd://") == false)
    }

    @Test func `commas and equals signs in quotes do not split, and other attributes are kept`() throws {
        let line = #"#EXT-X-KEY:X-A="p,q=r",URI="skd://h?a=1,b=2",KEYID=0xABCD,METHOD=SAMPLE-AES"#
        let tag = try #require(try PlaylistText.media([line]).keyTags.first)
        #expect(tag.uri == "skd://h?a=1,b=2")
        #expect(tag.otherAttributes.map(\.name) == ["X-A", "KEYID"])
        #expect(tag.otherAttributes.map(\.value) == ["p,q=r", "0xABCD"])
    }

    @Test(arguments: [
        (#"METHOD=SAMPLE-AES, URI="skd://a""#, 1), (#"METHOD = SAMPLE-AES,URI="skd://a""#, 1),
        (#"METHOD=SAMPLE-AES,URI="skd://a","#, 1), (#"METHOD="SAMPLE-AES",URI="skd://a" "#, 2),
        ("METHOD=SAMPLE-AES,URI=skd://a", 1), (#"METHOD=SAMPLE-AES,URI="skd://a",x-y=1"#, 1),
    ])
    func `odd but unambiguous text is parsed and reported`(_ attributes: String, _ warnings: Int) throws {
        let playlist = try PlaylistText.media(["#EXT-X-KEY:\(attributes)"])
        #expect(playlist.keyTags.map(\.uri) == ["skd://a"])
        #expect(playlist.keyTags.map(\.method) == [.sampleAES])
        #expect(playlist.warnings.count == warnings)
    }

    @Test func `an IV may be short and of either case`() throws {
        let tag = try #require(
            try PlaylistText.media([#"#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0Xabc"#]).keyTags.first)
        #expect(tag.iv == "0Xabc")
        #expect(tag.ivBytes == Data(repeating: 0, count: 14) + [0x0a, 0xbc])
    }

    @Test func `key formats and URIs are compared byte for byte`() throws {
        let (composed, decomposed) = ("skd://caf\u{e9}", "skd://cafe\u{301}")
        let playlist = try PlaylistText.media([
            PlaylistText.key(composed), PlaylistText.segment(), PlaylistText.key(decomposed), PlaylistText.segment(),
            PlaylistText.key("skd://x", #"KEYFORMAT="COM.apple.streamingkeydelivery""#),
        ])
        #expect(playlist.fairPlayURIs.map { Array($0.raw.utf8) } == [Array(composed.utf8), Array(decomposed.utf8)])
    }
}
