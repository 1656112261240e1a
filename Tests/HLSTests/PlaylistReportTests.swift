import Foundation
import LatchkeyCore
import LatchkeyHLS
import Testing

@Suite struct PlaylistReportTests {
    private func object(_ text: String, _ context: PlaylistContext = PlaylistContext()) throws -> [String: Any] {
        let data = try JSONEncoder().encode(PlaylistReport(Data(text.utf8), context: context))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test(arguments: ["", "#EXTM3U", "#EXTM3U\n#EXT-X-KEY:", "#EXTM3U\n#EXT-X-ENDLIST\n#EXT-X-MEDIA:TYPE=AUDIO"])
    func `a refused playlist has explicit nulls`(_ text: String) throws {
        let object = try object(text)
        for field in ["keyTags", "sessionKeyTags", "segmentRuns", "fairplayURIs", "imports", "playlistURI"] {
            #expect(object[field] is NSNull, "\(field)")
        }
        #expect(object["segments"] as? Int == 0)
    }

    @Test(arguments: [
        ("", "unknown"), ("#EXTM3U\n#EXT-X-VERSION:3", "unknown"), ("#EXTM3U\n#EXTINF:6,\n#EXT-X-KEY:", "media"),
        ("#EXTM3U\n#EXT-X-ENDLIST\n#EXT-X-MEDIA:TYPE=AUDIO", "mixed"), ("#EXT-X-SESSION-DATA:A=1", "multivariant"),
    ])
    func `a refused playlist still says its kind`(_ text: String, _ kind: String) throws {
        #expect(try object(text)["kind"] as? String == kind)
    }

    @Test func `an error is the refusal in brief, and a missing header is a warning`() throws {
        let undefined = try object("#EXTM3U\n#EXTINF:6,\ns1\n#EXTINF:6,\n{$x}")
        #expect(undefined["error"] as? String == "undefined variable x")
        #expect(undefined["segments"] as? Int == 1)
        let headless = try object("#EXTINF:6,\ns1")
        #expect(headless["error"] is NSNull)
        #expect(headless["warnings"] as? [String] == ["first line is not #EXTM3U"])
        #expect(PlaylistReport(Data("#EXTINF:6,\ns1".utf8)).refusal?.code == "missingHeader")
    }

    @Test func `the next key of a live playlist is a separate object`() throws {
        let hint = #"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="skd://next",DATE-OF-FIRST-USE="2026-08-06T14:00:08+02:00""#
        let reported = try object("#EXTM3U\n#EXTINF:6,\ns1\n" + hint)["hintedKey"] as? [String: Any]
        #expect(reported?["URI"] as? String == "skd://next" && reported?["KEYFORMAT"] as? String == "identity")
        #expect(reported?["DATE-OF-FIRST-USE"] as? String == "2026-08-06T12:00:08Z" && reported?["line"] as? Int == 4)
        #expect(try object("#EXTM3U\n#EXTINF:6,\ns1")["hintedKey"] is NSNull)
    }

    @Test func `warnings name their lines`() throws {
        let object = try object("#EXTM3U\n#EXTINF:6,\ns\u{1}")
        #expect(object["warnings"] as? [String] == ["line 3: a control character"])
    }

    @Test func `the context is part of the report`() throws {
        let context = PlaylistContext(uri: "https://h/p", imports: ["a": "b"])
        let object = try object("#EXTM3U\n#EXT-X-ENDLIST", context)
        #expect(object["playlistURI"] as? String == "https://h/p")
        #expect(object["imports"] as? [String: String] == ["a": "b"])
        #expect(object["bytes"] as? Int == 22)
    }
}
