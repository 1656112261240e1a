import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import Testing

@testable import LatchkeyPlayback

/// Guards that no rendition, key tag, period or I-frame playlist is passed in silence.
@Suite(.timeLimit(.minutes(1))) struct SamplePlanTests {
    private static let key = #"#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="com.apple.streamingkeydelivery",URI="skd://"#

    /// A media playlist of words: `a` is a key tag of skd://a, `-` METHOD=NONE, `|` a discontinuity, `M` an init section, `x` a tag of
    /// another system, `.` a segment.
    private func playlist(_ words: String, name: String = "v", isLive: Bool = false) throws -> Playlist {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:6"]
        for (index, word) in words.enumerated() {
            switch word {
            case ".": lines += ["#EXTINF:6,", "\(index).ts"]
            case "-": lines.append("#EXT-X-KEY:METHOD=NONE")
            case "|": lines.append("#EXT-X-DISCONTINUITY")
            case "M": lines.append("#EXT-X-MAP:URI=\"\(index).mp4\"")
            case "x": lines.append(#"#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="urn:x",URI="data:1""#)
            default: lines.append("\(Self.key)\(word)\"")
            }
        }
        if !isLive { lines.append("#EXT-X-ENDLIST") }
        return try Playlist(
            Data(lines.joined(separator: "\n").utf8), context: PlaylistContext(uri: "https://h/\(name).m3u8"))
    }

    private func shown(_ plan: SamplePlan) -> [String] {
        plan.places.map { place in
            let file = place.segment.uri.split(separator: "/").last ?? ""
            return "\(place.key?.remainder ?? "-") \(file.prefix { $0 != "." })"
        }
    }

    @Test(arguments: [
        ("a...", ["a 1"]), ("a..b..a.", ["a 1", "b 4", "a 7"]), ("a.|..", ["a 1", "a 3"]), ("..a.", ["- 0", "a 3"]),
        ("a.-..", ["a 1", "- 3"]), ("a.Ma.M.", ["a 1", "a 4", "a 6"]), ("xa.", ["a 2"]), ("ab.", ["b 2"]), ("a", []),
    ])
    func `each key tag, init section and period gets its own segment`(_ words: String, _ places: [String]) throws {
        #expect(shown(try SamplePlan([playlist(words)], limit: 100)) == places)
    }

    @Test func `a live playlist's newest segments are tried`() throws {
        #expect(shown(try SamplePlan([playlist("a..b..", isLive: true)], limit: 100)) == ["a 2", "b 5"])
    }

    @Test func `a limit takes the first of each playlist and counts the rest`() throws {
        let plan = try SamplePlan([playlist("a.b.c."), playlist("d.e.")], limit: 3)
        #expect(shown(plan) == ["a 1", "d 1", "b 3"] && plan.leftOut == 2)
    }

    @Test(arguments: [("x.", 1), ("xa.", 0), (".", 0), ("a.-x.", 1)])
    func `a playlist with only another system's keys is named`(_ words: String, _ count: Int) throws {
        #expect(try SamplePlan([playlist(words)], limit: 9).foreign.count == count)
    }

    @Test func `a playlist of single pictures says so`() throws {
        let file = DemoAsset.twoKeys.directory.appending(path: "iframe.m3u8")
        #expect(try Playlist(Data(contentsOf: file)).hasOnlyIFrames)
        #expect(try !playlist("a.").hasOnlyIFrames)
    }
}

@Suite(.timeLimit(.minutes(1))) struct TransportProgramTests {
    private func packet(_ pid: UInt16, _ section: [UInt8]) -> [UInt8] {
        let head: [UInt8] = [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xff), 0x10, 0]
        return head + section + [UInt8](repeating: 0xff, count: 183 - section.count)
    }

    /// A stream with one program of the given types.
    private func stream(_ types: [UInt8]) -> Data {
        let pat: [UInt8] = [0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xe0, 0x20, 0, 0, 0, 0]
        let entries = types.flatMap { [$0, 0xe1, 0, 0xf0, 0] as [UInt8] }
        let map: [UInt8] =
            [2, 0xb0, UInt8(13 + entries.count), 0, 1, 0xc1, 0, 0, 0xe1, 0, 0xf0, 0] + entries + [0, 0, 0, 0]
        return Data(packet(0, pat) + packet(0x20, map))
    }

    @Test(
        arguments: [
            ([0xdb], true), ([0xcf], true), ([0xc1], true), ([0x1b], false), ([0x24, 0x0f], false),
            ([0x15, 0xdb], true),
            ([0x15], nil), ([], nil),
        ] as [([UInt8], Bool?)])
    func `a transport stream's table shows whether its samples are encrypted`(
        _ types: [UInt8], _ isEncrypted: Bool?
    ) {
        #expect(TransportProgram(stream(types))?.isEncrypted == isEncrypted)
    }

    @Test func `the demo's stream is encrypted, and a part of it is harmless`() throws {
        let whole = try Data(contentsOf: DemoAsset.transportStream.directory.appending(path: "v/1.ts"))
        #expect(TransportProgram(whole)?.isEncrypted == true)
        for count in 0..<600 {
            let found = TransportProgram(whole.prefix(count))?.isEncrypted
            #expect(found == nil || found == true)
        }
    }

    @Test func `any damage of the tables is harmless`() {
        let sound = stream([0xdb, 0x0f])
        for index in sound.indices {
            for value in [0, 0x7f, 0xff] as [UInt8] {
                var damaged = sound
                damaged[index] = value
                _ = TransportProgram(damaged)
            }
        }
    }

    @Test func `packed audio with an encrypted-audio tag is encrypted`() throws {
        let isEncrypted = { (text: String) in
            try SegmentFacts(Data(text.utf8), initialization: nil, in: .packedAudio).isEncrypted
        }
        #expect(try isEncrypted("ID3 PRIVcom.apple.streaming.audioDescription") == true)
        #expect(try isEncrypted("ID3") == nil)
    }
}
