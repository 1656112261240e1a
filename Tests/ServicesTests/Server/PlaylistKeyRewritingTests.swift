import Foundation
import LatchkeyCore
import LatchkeyMedia
import LatchkeyServices
import Testing

@Suite struct PlaylistKeyRewritingTests {
    private static let format = #"KEYFORMAT="com.apple.streamingkeydelivery""#

    @Test(arguments: [
        (#"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="old",\#(format)"#, #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="new",\#(format)"#),
        (#"#EXT-X-SESSION-KEY:URI="old",\#(format)"#, #"#EXT-X-SESSION-KEY:URI="new",\#(format)"#),
        (#"#EXT-X-KEY:\#(format), URI="old""#, #"#EXT-X-KEY:\#(format), URI="new""#),
        (
            #"#EXT-X-KEY:X-A="URI=,old",URI="old",\#(format),IV=0x00"#,
            #"#EXT-X-KEY:X-A="URI=,old",URI="new",\#(format),IV=0x00"#
        ),
    ])
    func `only the URI of a FairPlay key tag changes`(_ line: String, _ expected: String) {
        #expect(rewritten("#EXTM3U\r\n\(line)\r\nold\n") == "#EXTM3U\r\n\(expected)\r\nold\n")
    }

    @Test(arguments: [
        #"#EXT-X-KEY:METHOD=AES-128,URI="old""#, #"#EXT-X-KEY:URI="old",KEYFORMAT="identity""#,
        #"#EXT-X-KEY:URI="other",\#(format)"#, #"#EXT-X-KEY:URI="old,\#(format)"#, #"#EXT-X-KEY:URI=old,\#(format)"#,
        #"#EXT-X-KEYS:URI="old",\#(format)"#, #"#EXT-X-MAP:URI="old",\#(format)"#, "#EXT-X-KEY:", "#EXT-X-KEY:=,=\"",
        "",
    ])
    func `other lines stay`(_ line: String) {
        #expect(rewritten(line) == line)
    }

    @Test func `invalid UTF-8 is kept`() {
        let playlist = Data("#EXT-X-KEY:URI=\"old\",\(Self.format),X=\"".utf8) + Data([0xff, 0xfe, 0x22])
        #expect(PlaylistKeyRewriting { _ in "new" }.rewritten(playlist) == playlist)
    }

    @Test(arguments: ["a\"b", "a\nb", "a\r\nb"])
    func `a replacement that would break the line is rejected`(_ replacement: String) {
        let line = #"#EXT-X-KEY:URI="old",\#(Self.format)"#
        #expect(PlaylistKeyRewriting { _ in replacement }.rewritten(Data(line.utf8)) == Data(line.utf8))
    }

    private func rewritten(_ text: String) -> String {
        let rewriting = PlaylistKeyRewriting { $0.raw == "old" ? "new" : nil }
        return String(decoding: rewriting.rewritten(Data(text.utf8)), as: UTF8.self)
    }
}
