import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

/// Every rule of `StreamRule` has a stream that breaks it, made by editing the boxes and tables of the demo's; the demo's keep them all.
@Suite(.timeLimit(.minutes(1))) struct StreamRuleTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let code: String
        let what: String
        let media: @Sendable () throws -> EditedMedia

        var testDescription: String { "\(code): \(what)" }
    }

    static let cases = [
        Case(code: "mapMissing", what: "no init section") { try .picture { $0.head = nil } },
        Case(code: "notEncrypted", what: "the sample entry is avc1") { try .picture { $0.rename("encv", "avc1") } },
        Case(code: "notEncrypted", what: "tenc says so") { try .sound { $0.set("tenc", 6, [0]) } },
        Case(code: "notEncrypted", what: "stream types") { try .transportStream([0x1b: [], 0x0f: []]) },
        Case(code: "wrongScheme", what: "cenc") { try .picture { $0.set("schm", 4, Array("cenc".utf8)) } },
        Case(code: "wrongScheme", what: "no schm") { try .sound { $0.rename("schm", "free") } },
        Case(code: "originalFormat", what: "no frma") { try .picture { $0.rename("frma", "free") } },
        Case(code: "originalFormat", what: "sound in encv") { try .picture { $0.set("frma", 0, Array("mp4a".utf8)) } },
        Case(code: "parameterSetsInSamples", what: "hev1") { try .picture { $0.set("frma", 0, Array("hev1".utf8)) } },
        Case(code: "trackEncryptionMissing", what: "no tenc") { try .picture { $0.rename("tenc", "free") } },
        Case(code: "trackEncryptionVersion", what: "shaka-packager#326") { try .sound { $0.set("tenc", 0, [0]) } },
        Case(code: "videoPattern", what: "5:5") { try .picture { $0.set("tenc", 5, [0x55]) } },
        Case(code: "videoPattern", what: "none, as other systems have it") { try .picture { $0.set("tenc", 5, [0]) } },
        Case(code: "videoPattern", what: "5:5 in seig") { try .rotated { $0.set("sgpd", 17, [0x55]) } },
        Case(code: "audioPattern", what: "1:9") { try .sound { $0.set("tenc", 5, [0x19]) } },
        Case(code: "sampleIV", what: "8 bytes for each sample") { try .sound { $0.set("tenc", 7, [8]) } },
        Case(code: "constantIV", what: "8 bytes") { try .sound { $0.set("tenc", 24, [8]) } },
        Case(code: "constantIV", what: "none") { try .picture { $0.set("tenc", 24, [0]) } },
        Case(code: "zeroIV", what: "gpac#1149, without a license") {
            try .sound { $0.set("tenc", 25, .init(repeating: 0, count: 16)) }
        },
        Case(code: "wrongIV", what: "another one") { try .picture { $0.iv = Data(1...16) } },
        Case(code: "wrongIV", what: "gpac#1149, with a license") {
            try .sound {
                $0.set("tenc", 25, .init(repeating: 0, count: 16))
                $0.iv = Data(1...16)
            }
        },
        Case(code: "wrongIV", what: "in seig") { try .rotated { $0.iv = Data(1...16) } },
        Case(code: "subsamplesMissing", what: "no senc, saiz or saio") {
            try .picture { for name in ["senc", "saiz", "saio"] { $0.rename(name, "free") } }
        },
        Case(code: "subsamplesMissing", what: "senc without flag 2") { try .picture { $0.set("senc", 3, [0]) } },
        Case(code: "auxiliaryCount", what: "saiz") { try .picture { $0.set("saiz", 5, [0, 0, 0, 49]) } },
        Case(code: "auxiliaryCount", what: "senc") { try .picture { $0.set("senc", 4, [0, 0, 0, 49]) } },
        Case(code: "auxiliaryCount", what: "senc of sound") { try .sound { $0.set("senc", 4, [0, 0, 0, 1]) } },
        Case(code: "subsampleSizes", what: "a sample of 9 bytes") {
            try .picture { $0.set("trun", 12, [0, 0, 0, 9]) }
        },
        Case(code: "auxiliaryOffset", what: "4 bytes off") { try .picture { $0.add(4, to: "saio", 11) } },
        Case(code: "sampleGroupIndex", what: "counted from 1") { try .rotated { $0.set("sbgp", 16, [0, 0, 0, 1]) } },
        Case(code: "sampleGroupIndex", what: "past the last") { try .rotated { $0.set("sbgp", 16, [0, 1, 0, 2]) } },
        Case(code: "samplesInClear", what: "no protected byte") { try .picture { $0.clearSubsamples() } },
        Case(code: "hevcInTransportStream", what: "0x24") { try .transportStream([0x24: []]) },
        Case(code: "programMapPackets", what: "longer than its packet") {
            try .transportStream([0xdb: zavc], lengthened: 150)
        },
        Case(code: "privateDataIndicator", what: "picture") { try .transportStream([0xdb: []]) },
        Case(code: "privateDataIndicator", what: "of another type") { try .transportStream([0xdb: aacd]) },
        Case(code: "audioSetup", what: "AAC") { try .transportStream([0xdb: zavc, 0xcf: aacd]) },
        Case(code: "audioDescription", what: "the time alone") { .packedAudio("transportStreamTimestamp") },
        Case(code: "packedTimestamp", what: "the setup alone") { .packedAudio("audioDescription") },
    ]

    private static let zavc = descriptor(0x0f, "zavc")
    private static let aacd = descriptor(0x0f, "aacd")

    private static func descriptor(_ tag: UInt8, _ text: String) -> [UInt8] {
        [tag, UInt8(text.utf8.count)] + text.utf8
    }

    @Test(arguments: cases) func `a segment is named by the rule it breaks`(_ one: Case) throws {
        let found = try one.media().facts().findings
        #expect(found.map(\.rule.code).contains(one.code), "\(found.map(\.what))")
        // Consequences of the same edit are allowed; an alarm about untouched parts is not.
        let others = Set(found.map(\.rule.code)).subtracting([one.code])
        #expect(others.isSubset(of: Self.companions[one.code] ?? []), "\(others)")
    }

    /// Codes that accompany another.
    private static let companions: [String: Set<String>] = [
        "hevcInTransportStream": ["notEncrypted"], "auxiliaryCount": ["auxiliaryOffset"],
        "trackEncryptionMissing": ["constantIV"],
    ]

    @Test(arguments: [
        "one init section and a segment", "sound", "rotation", "senc under another name, led to by saio",
        "a whole file",
        "picture and sound in a transport stream", "packed audio", "clear sound beside encrypted picture", "AC-3",
        "the pattern 1:0 of sound", "the pattern 10:0 of sound", "a key ID of zeros", "no license",
    ])
    func `a sound form raises no alarm`(_ form: String) throws {
        let media: EditedMedia =
            switch form {
            case "sound": try .sound()
            case "rotation": try .rotated()
            case "senc under another name, led to by saio": try .picture { $0.rename("senc", "free") }
            case "a whole file":
                try .picture {
                    $0.body = ($0.head ?? Data()) + $0.body
                    $0.head = nil
                }
            case "picture and sound in a transport stream":
                try .transportStream([0xdb: Self.zavc, 0xcf: Self.aacd + Self.descriptor(0x05, "apadzaac")])
            case "packed audio": .packedAudio("transportStreamTimestamp", "audioDescription")
            case "clear sound beside encrypted picture": try .transportStream([0xdb: Self.zavc, 0x0f: []])
            case "AC-3":
                try .transportStream([0xc1: Self.descriptor(0x0f, "ac3d") + Self.descriptor(0x05, "apadzac3")])
            case "the pattern 1:0 of sound": try .sound { $0.set("tenc", 5, [0x10]) }
            case "the pattern 10:0 of sound": try .sound { $0.set("tenc", 5, [0xa0]) }
            case "a key ID of zeros": try .picture { $0.set("tenc", 8, .init(repeating: 0, count: 16)) }
            case "no license": try .picture { $0.iv = nil }
            default: try .picture()
            }
        #expect(try media.facts().findings.map(\.what) == [])
    }

    @Test(arguments: DemoAsset.allCases) func `every segment of the demo keeps every rule`(_ asset: DemoAsset) throws {
        let keys = try DemoAsset.contentKeys()
        for track in try asset.copy().copy.tracks {
            for segment in track.segments {
                let head = try segment.initialization.map { try Data(contentsOf: asset.directory.appending(path: $0)) }
                let body = try Data(contentsOf: asset.directory.appending(path: segment.file))
                var facts = try SegmentFacts(body, initialization: head, in: track.container)
                facts.licensedIV = segment.keyURIs.first.flatMap { keys[$0] }?.iv.revealed
                #expect(facts.licensedIV != nil && facts.findings == [], "\(facts.findings.map(\.what))")
            }
        }
    }

    // MARK: Playlists

    static let head = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n"
    static let key =
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://one",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1""#
        + "\n"
    static let live =
        head + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.5\n"
    private static let segment = "#EXTINF:2,\ns.ts\n"
    private static let variant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n"

    static let playlists: [(code: String, line: Int?, text: String)] = [
        ("targetDurationMissing", nil, "#EXTM3U\n" + segment),
        ("segmentExceedsTarget", 4, head + "#EXTINF:2.5,\ns.ts\n"),
        ("partExceedsTarget", 8, live + segment + "#EXT-X-PART:DURATION=0.501,URI=\"p\"\n"),
        ("partTargetMissing", 6, head + segment + "#EXT-X-PART:DURATION=0.5,URI=\"p\"\n"),
        ("partHoldBack", nil, live.replacing("PART-HOLD-BACK=1.5", with: "PART-HOLD-BACK=0.9") + segment),
        ("partHoldBack", nil, live.replacing(",PART-HOLD-BACK=1.5", with: "") + segment),
        ("holdBack", nil, live.replacing(",PART", with: ",HOLD-BACK=5.9,PART") + segment),
        ("skipBoundary", nil, live.replacing(",PART", with: ",CAN-SKIP-UNTIL=11,PART") + segment),
        ("discontinuitySequence", 7, head + "#EXT-X-MEDIA-SEQUENCE:7\n" + segment + "#EXT-X-DISCONTINUITY\n" + segment),
        ("encryptionChange", 8, head + segment + key + segment + segment),
        ("encryptionChange", 9, head + key + segment + "#EXT-X-KEY:METHOD=NONE\n" + segment),
        ("bandwidthMissing", 2, variant.replacing("BANDWIDTH=1,AUDIO=\"a\"", with: "AVERAGE-BANDWIDTH=1")),
        ("groupMissing", 2, variant),
    ]

    @Test(arguments: playlists.indices) func `a playlist is named by the rule it breaks`(_ index: Int) throws {
        let (code, line, text) = Self.playlists[index]
        let found = try Playlist(Data(text.utf8)).findings
        #expect(found.map(\.rule.code) == [code] && found.first?.line == line, "\(found)")
    }

    static let soundPlaylists = [
        live + segment + "#EXT-X-PART:DURATION=0.5,URI=\"p\"\n", head + "#EXTINF:2.499,\ns.ts\n",
        live.replacing("1.5", with: "1.0") + segment,
        live.replacing(",PART", with: ",HOLD-BACK=6.0,CAN-SKIP-UNTIL=12.0,PART") + segment,
        head + "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n" + segment + "#EXT-X-DISCONTINUITY\n"
            + segment,
        head + segment + "#EXT-X-DISCONTINUITY\n" + segment, head + segment + "#EXT-X-DISCONTINUITY\n" + key + segment,
        head + "#EXT-X-MAP:URI=\"i\"\n" + segment + key + segment,
        head + key + segment + key.replacing("one", with: "two") + segment,
        head + segment + key, head + key + key + segment,
        variant.replacing("#EXT-X-STREAM", with: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n#EXT-X-STREAM"),
    ]

    @Test(arguments: soundPlaylists) func `a sound playlist raises no alarm`(_ text: String) throws {
        #expect(try Playlist(Data(text.utf8)).findings == [])
    }

    // MARK: The table

    @Test func `every rule has a stream that breaks it`() {
        let tried = Self.cases.map { $0.code } + Self.playlists.map { $0.code } + ["wholeSegmentUnderSampleAES"]
        let codes = StreamRule.all.map { $0.code }
        #expect(Set(tried) == Set(codes) && Set(codes).count == codes.count)
    }

    @Test func `the page of media has exactly one row for each rule`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Documentation/Media.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## 13. ").last?.components(separatedBy: "\n## ").first)
        let rows = section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
        let table = StreamRule.all.map(\.row)
        #expect(rows.filter { !table.contains($0) } == [])
        #expect(table.filter { !rows.contains($0) } == [])
    }

    @Test func `every rule has a public source and one remedy`() {
        for rule in StreamRule.all {
            #expect(
                rule.source.contains("https://") || rule.source.contains("Documentation/")
                    || rule.source.contains("ISO/IEC"))
            #expect(rule.remedy.hasSuffix(".") && !rule.player.isEmpty)
        }
    }

    // MARK: Play

    @Test func `a stream that plays only in a decoder is not right`() async throws {
        let scratch = try DemoAsset.twoKeys.copy()
        let file = scratch.folder.file("a/init.mp4")
        var media = EditedMedia(container: .fragmentedMP4, body: try Data(contentsOf: file))
        media.set("tenc", 0, [0])
        try media.body.write(to: file)
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys())
        #expect(result.tracks.allSatisfy { !$0.frames.isEmpty && $0.complaintCount == 0 }, "the decoder plays it")
        #expect(!result.verdict().isRight)
        #expect(try result.verdict(against: DemoAsset.reference()).tracks.map(\.isRight) == [true, false])
        #expect(result.findings.map(\.rule.code) == ["trackEncryptionVersion"])
    }

    @Test func `a fully encrypted segment under SAMPLE-AES is named`() async throws {
        let bytes = Data((0..<1_600).map { UInt8(truncatingIfNeeded: $0 * 193 + 0x81) })
        let list = Data((Self.head + Self.key + Self.segment + "#EXT-X-ENDLIST\n").utf8)
        for (size, code) in [(1_600, "wholeSegmentUnderSampleAES"), (1_599, "unsupportedContainer")] {
            let resources = MemoryResources(["p.m3u8": list, "s.ts": bytes.prefix(size)])
            let folder = try TemporaryFolder()
            #expect(
                await errorCode {
                    try await StreamDownload(resources).copy(MemoryResources.address("p.m3u8"), into: folder.url)
                } == code)
        }
    }
}

/// A segment and its init section, edited.
struct EditedMedia: Sendable {
    var container: ContainerKind
    var head: Data?
    var body: Data
    /// The license's IV.
    var iv: Data? = Data(hexString: "0f1e2d3c4b5a69788796a5b4c3d2e1f0")

    typealias Edit = (inout EditedMedia) throws -> Void

    static func picture(_ edit: Edit = { _ in }) throws -> Self { try demo("two-keys/v", edit) }

    static func sound(_ edit: Edit = { _ in }) throws -> Self {
        try demo("two-keys/a") {
            $0.iv = nil
            try edit(&$0)
        }
    }

    static func rotated(_ edit: Edit = { _ in }) throws -> Self { try demo("rotation/v", edit) }

    private static func demo(_ folder: String, _ edit: Edit) throws -> Self {
        let file = { (name: String) in try Data(contentsOf: DemoAsset.folder.appending(path: "\(folder)/\(name)")) }
        var media = try Self(container: .fragmentedMP4, head: file("init.mp4"), body: file("1.m4s"))
        try edit(&media)
        return media
    }

    /// A transport stream with one program of types and their descriptors.
    /// - Parameter lengthened: the bytes that the map claims beyond its size.
    static func transportStream(_ types: KeyValuePairs<UInt8, [UInt8]>, lengthened: UInt8 = 0) throws -> Self {
        let packet = { (pid: UInt8, section: [UInt8]) -> [UInt8] in
            let head: [UInt8] = [0x47, 0x40, pid, 0x10, 183 - UInt8(section.count)]
            return head + [UInt8](repeating: 0xff, count: 183 - section.count) + section
        }
        var entries: [UInt8] = []
        for (type, descriptors) in types {
            entries += [type, 0xe1, 0, 0xf0, UInt8(descriptors.count)] as [UInt8]
            entries += descriptors
        }
        let length = UInt8(13 + entries.count) + lengthened
        let head: [UInt8] = [2, 0xb0, length, 0, 1, 0xc1, 0, 0, 0xe1, 0, 0xf0, 0]
        let map = head + entries + [0, 0, 0, 0]
        let table: [UInt8] = [0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xe0, 0x20, 0, 0, 0, 0]
        return Self(container: .transportStream, head: nil, body: Data(packet(0, table) + packet(0x20, map)))
    }

    static func packedAudio(_ frames: String...) -> Self {
        let tag = "ID3" + frames.map { "PRIVcom.apple.streaming.\($0)" }.joined()
        return Self(container: .packedAudio, head: nil, body: Data(tag.utf8))
    }

    func facts() throws -> SegmentFacts {
        var facts = try SegmentFacts(body, initialization: head, in: container)
        facts.licensedIV = iv
        return facts
    }

    /// The starts of the payloads of a type's boxes, in the init section or in the segment.
    private static func places(_ type: String, in data: Data) -> [Int] {
        var places: [Int] = []
        var start = data.startIndex
        while let found = data[start...].range(of: Data(type.utf8)) {
            places.append(found.upperBound)
            start = found.upperBound
        }
        return places
    }

    mutating func set(_ box: String, _ offset: Int, _ bytes: [UInt8]) {
        edit(box) { data, place in data.replaceSubrange(place + offset..<place + offset + bytes.count, with: bytes) }
    }

    mutating func add(_ value: UInt8, to box: String, _ offset: Int) { edit(box) { $0[$1 + offset] &+= value } }

    mutating func rename(_ box: String, _ name: String) {
        edit(box) { data, place in data.replaceSubrange(place - 4..<place, with: name.utf8) }
    }

    /// Makes every byte that senc protects a byte in clear.
    mutating func clearSubsamples() {
        edit("senc") { data, place in
            var offset = place + 8
            for _ in 0..<data[place + 7] {
                let count = Int(data[offset + 1])
                offset += 2
                for _ in 0..<count {
                    let sum =
                        data[offset..<offset + 2].reduce(0) { $0 << 8 | Int($1) }
                        + data[offset + 2..<offset + 6].reduce(0) { $0 << 8 | Int($1) }
                    let bytes = [UInt8(sum >> 8), UInt8(sum & 0xff), 0, 0, 0, 0]
                    data.replaceSubrange(offset..<offset + 6, with: bytes)
                    offset += 6
                }
            }
        }
    }

    private mutating func edit(_ box: String, _ change: (inout Data, Int) -> Void) {
        for place in Self.places(box, in: body) { change(&body, place) }
        guard var head else { return }
        for place in Self.places(box, in: head) { change(&head, place) }
        self.head = head
    }
}
