import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite struct DecoderRunTests {
    private static let first = DemoAsset.contentKey("00112233445566778899aabbccddeeff", iv)
    private static let second = DemoAsset.contentKey("112233445566778899aabbccddeeff00", iv)
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    private static let keys: [KeyURI: ContentKey] = ["skd://1": first, "skd://2": second].compactMapValues { $0 }

    private static func segment(_ name: String, _ key: KeyURI?, initialization: String? = nil) -> LocalSegment {
        LocalSegment(
            file: name, initialization: initialization, duration: 2, method: key.map { _ in .samples },
            keyURIs: key.map { [$0] } ?? [])
    }

    private static func runs(_ segments: [LocalSegment]) throws -> [[String]] {
        let track = LocalTrack(name: "main", container: .transportStream, segments: segments)
        return try DecoderRun.runs(of: track, in: URL(filePath: "/nowhere"), keys: keys)
            .map { $0.segments.map(\.file) }
    }

    @Test func `a track is cut where its key changes`() throws {
        let keys: [KeyURI?] = [nil, nil, "skd://1", "skd://1", "skd://2", nil]
        let segments = keys.enumerated().map { Self.segment("\($0)", $1) }
        #expect(try Self.runs(segments) == [["0", "1"], ["2", "3"], ["4"], ["5"]])
    }

    @Test func `a track is cut where its init section changes and at a discontinuity`() throws {
        var last = Self.segment("c", "skd://1", initialization: "2")
        last.isDiscontinuous = true
        let segments = [
            Self.segment("a", "skd://1", initialization: "1"), Self.segment("b", "skd://1", initialization: "2"), last,
        ]
        #expect(try Self.runs(segments) == [["a"], ["b"], ["c"]])
    }

    @Test func `any alternative key opens a segment`() throws {
        var segment = Self.segment("a", "skd://unknown")
        #expect(errorCode { try Self.runs([segment]) } == "keyMissing")
        segment.keyURIs.append("skd://2")
        #expect(try Self.runs([segment]) == [["a"]])
    }

    @Test func `a missing key's error does not show a token of its URI`() {
        let error = #expect(throws: Diagnosis.self) {
            try Self.runs([Self.segment("a", "skd://host/id?token=very-secret")])
        }
        #expect(error?.description.contains("skd://host/id") == true)
        #expect(error?.description.contains("very-secret") == false)
    }

    @Test func `a local playlist states the license's IV and repeats the last segment of a transport stream`() throws {
        let folder = try TemporaryFolder()
        let segments = [Self.segment("1.ts", "skd://1"), Self.segment("2.ts", "skd://1")]
        let run = DecoderRun(segments: segments, key: Self.first, sampleGroupKeys: nil)
        let prepared = try PreparedRun(
            run, container: .transportStream, name: "main", in: WorkingFiles(folder.url))
        let expected = """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="main.key.bin",IV=0x\(Self.iv)
            #EXTINF:2.0,
            1.ts
            #EXTINF:2.0,
            2.ts

            """
        #expect(try String(contentsOf: prepared.playlist, encoding: .utf8) == expected + "#EXT-X-ENDLIST\n")
        let repeating = try String(contentsOf: #require(prepared.repeating), encoding: .utf8)
        #expect(repeating == expected + "#EXTINF:2.0,\n2.ts\n#EXT-X-ENDLIST\n")
        #expect(try Data(contentsOf: folder.url.appending(path: "main.key.bin")) == Self.first?.key.revealed)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -5, 1e300])
    func `odd durations do no harm`(duration: Double) {
        let text = LocalPlaylist(segments: [LocalSegment(file: "a", duration: duration)]).text
        #expect(text.contains("#EXT-X-TARGETDURATION:\(duration == 1e300 ? 86_400 : 1)\n"))
    }

    @Test(arguments: [(ContainerKind.fragmentedMP4, true), (.transportStream, false)])
    func `nothing is repeated in fMP4 or clear streams`(container: ContainerKind, isEncrypted: Bool) throws {
        let folder = try TemporaryFolder()
        let run = DecoderRun(
            segments: [Self.segment("1", isEncrypted ? "skd://1" : nil)], key: isEncrypted ? Self.first : nil,
            sampleGroupKeys: nil)
        let prepared = try PreparedRun(run, container: container, name: "x", in: WorkingFiles(folder.url))
        #expect(prepared.repeating == nil)
    }
}
