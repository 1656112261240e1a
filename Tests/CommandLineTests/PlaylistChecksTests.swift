import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Key URIs as packagers wrote them: made-up names in the forms of public reports, and others of the same kinds.
@Suite(.timeLimit(.minutes(1))) struct KeyURIFaultTests {
    @Test(arguments: [
        "skd://movie-1", "skd://72ea9ec1-abb4-40d8-b3a9-e0bd1833bd58:0123456789ABCDEF0123456789ABCDEF", "SKD://a",
        "skd:movie", "skd://a?b=1&c=2&amplitude=3", "skd://{72EA9EC1-ABB4-40D8-B3A9-E0BD1833BD58}",
        "skd://{E9EC1A72-ABB4-40D8-B3A9-E0BD1833BD58}", "skd://eyJDb250ZW50SWQiOiIxIn0=",
        "skd://scLT5PUGFyg5SltsfY6foA==",
        #"skd://{"ContentId":"a"}"#, "skd://a%20b%d0%b0", "skd://drmtoday?assetId=a&variantId=", "skd://todo-list",
        "skd://h/YOURS/a", "skd://$", "skd://a b", "skd://a$b", "skd://[::1]/a",
    ])
    func `a sound key URI has no fault`(_ uri: String) {
        #expect(KeyURIFault(KeyURI(uri)) == nil, "\(uri)")
    }

    @Test(arguments: [
        ("sdk://72ea9ec1-abb4-40d8-b3a9-e0bd1833bd58:01", "keyURIScheme", true), ("sk://a", "keyURIScheme", true),
        ("sdk:a", "keyURIScheme", true), ("skds://a", "keyURIScheme", true),
        ("https://keys.example/a", "keyURIScheme", false), ("movie-1", "keyURIScheme", false),
        ("keys/1.key", "keyURIScheme", false), ("data:text/plain;base64,AA==", "keyURIScheme", false),
        ("'skd://movie-1'", "keyURIQuoted", true), ("skd://movie-1'", "keyURIQuoted", true),
        ("“skd://movie-1”", "keyURIQuoted", true), ("`skd://a", "keyURIQuoted", true),
        ("skd://a?b=1&amp;c=2", "keyURIEscaped", true), ("skd://a?b=&quot;c", "keyURIEscaped", true),
        ("skd://a&#38;b", "keyURIEscaped", true), ("skd://a&#x26;b", "keyURIEscaped", true),
        ("skd://{ID}", "keyURIPlaceholder", true), ("skd://INSERT_CONTENT_ID", "keyURIPlaceholder", true),
        ("skd://${contentId}", "keyURIPlaceholder", true), ("skd://{{ key.id }}", "keyURIPlaceholder", true),
        ("skd://$KeyID$", "keyURIPlaceholder", true), ("skd://<content id>", "keyURIPlaceholder", true),
        ("skd://%7BkeyId%7D", "keyURIPlaceholder", true), ("skd://h/YOUR-ASSET-ID", "keyURIPlaceholder", true),
        ("skd://h/%s", "keyURIPlaceholder", true), ("skd://[CONTENT_ID]", "keyURIPlaceholder", true),
        ("skd://", "keyURIEmpty", false), ("skd:", "keyURIEmpty", false),
        ("skd://[object Object]", "keyURIEmpty", true),
        ("skd://h/undefined/1", "keyURIEmpty", true), ("skd://h?assetId=null", "keyURIEmpty", true),
        (" skd://a", "keyURIBlank", false), ("skd://a\t", "keyURIBlank", false), ("skd://a ", "keyURIBlank", false),
    ])
    func `a malformed key URI is named`(_ uri: String, _ code: String, _ isError: Bool) {
        let check = KeyURIFault(KeyURI(uri))?.check(uri)
        #expect(check?.code == code && check?.result == (isError ? .error : .warning), "\(uri)")
    }
}

/// Cases 1 to 22 of public trouble with playlists, rebuilt with made-up names: the output of `latchkey keys`, and its exit code.
/// The cases that need media are in `DoctorMediaTests`.
@Suite(.timeLimit(.minutes(1))) struct PlaylistCaseTests {
    private static let fairPlay = #"KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1""#
    private static let head = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:10\n"

    private static func key(_ uri: String, _ method: String = "SAMPLE-AES") -> String {
        "#EXT-X-KEY:METHOD=\(method),URI=\"\(uri)\",\(fairPlay)\n"
    }

    private static func segment(_ name: String = "s.ts") -> String { "#EXTINF:10,\n\(name)\n" }

    private func keys(_ files: [String: String]) async throws -> RecordedRun {
        let folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        return await RecordedRun("keys", folder.path("p.m3u8"))
    }

    @Test func `p39: a gzip-compressed playlist is named as such`() async throws {
        let folder = try TemporaryFolder()
        try Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xfe]).write(to: folder.file("p.m3u8"))
        let run = await RecordedRun("keys", folder.path("p.m3u8"))
        #expect(run.status == .no && run.error.contains("compressed by gzip. Unpack it"), "\(run.error)")
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let source: String
        let playlist: String
        /// The words of the output, and whether the answer is yes.
        let words: [String]
        let isRight: Bool

        var testDescription: String { source }
    }

    static let cases = [
        Case(
            source: "p33 shaka-packager#1431: two FairPlay tags in a row",
            playlist: head + key("skd://first") + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,mgIA\"\n"
                + key("skd://second") + segment(),
            words: [
                "skd://first: the FairPlay key tag of line 4 opens nothing", "FairPlay keys\n  skd://second\n",
            ], isRight: true),
        Case(
            source: "p38 hls.js#7608: an interstitial with keys of its own",
            playlist: head + key("skd://main")
                + "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-11-28T12:00:00Z\",X-ASSET-URI=\"ad.m3u8\"\n"
                + segment(), words: ["1 interstitial with playlists and keys of its own was not looked at."],
            isRight: true),
        Case(
            source: "1 Comcast/mamba#82: a malformed MAP",
            playlist: head
                + "#EXT-X-KEY:METHOD=AES-128,URI=\"http://keys.example.com\",IV=0x000102030aaaaccccccccbbbbb0d0e0f\n"
                + "#EXT-X-MAP:URI=\\\"http://media.example.com/init.mp4\\\"\n" + segment(),
            words: ["No FairPlay key.", "http://keys.example.com"], isRight: true),
        Case(
            source: "2 the same on the key tag",
            playlist: head
                + #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://asset-1\",KEYFORMAT=\"com.apple.streamingkeydelivery\""#
                + "\n"
                + segment(),
            words: ["Error: Line 4", "backslash"], isRight: false),
        Case(
            source: "4 ExoPlayer#3606: a session id in the key URI",
            playlist: head + key("skd://00112233445566778899aabbccddeeff?wowzasessionid=123456789") + segment(),
            words: ["skd://00112233445566778899aabbccddeeff?wowzasessionid=‹9:"], isRight: true),
        Case(
            source: "8 shaka-packager#696: SAMPLE-AES-CTR after a clear lead",
            playlist: head + "#EXT-X-MAP:URI=\"init.mp4\"\n" + segment() + key("skd://a", "SAMPLE-AES-CTR") + segment(),
            words: ["Error: The FairPlay keys have METHOD=SAMPLE-AES-CTR"], isRight: false),
        Case(
            source: "9 hls-parser#141: two tags on one segment",
            playlist: head + key("skd://asset-1") + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,mgIA\"\n"
                + segment(), words: ["0 or 1", "skd://asset-1"], isRight: true),
        Case(
            source: "10 Bento4#532: AES-128 with FairPlay's KEYFORMAT",
            playlist: head + key("skd://expressplay_token", "AES-128") + segment(),
            words: ["Warning: The FairPlay keys have METHOD=AES-128"], isRight: true),
        Case(
            source: "11 shaka-player-embedded#151: an ad with METHOD=NONE behind MAP",
            playlist: head + "#EXT-X-MAP:URI=\"init.mp4\"\n" + key("skd://asset-9") + segment()
                + "#EXT-X-DISCONTINUITY\n"
                + "#EXT-X-MAP:URI=\"ad-init.mp4\"\n#EXT-X-KEY:METHOD=NONE\n" + segment() + segment(),
            words: ["1–2       none, in clear"], isRight: true),
        Case(
            source: "14 HLS-Stream-Creator#21: a URI without quotes",
            playlist: head
                + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=skd://asset-7,KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=1\n"
                + segment(), words: ["skd://asset-7", "URI lacks quotes"], isRight: true),
        Case(
            source: "15 contrib-eme#70: byte ranges, no version attribute",
            playlist: head
                + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://token\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
                + "#EXTINF:10,\n#EXT-X-BYTERANGE:856152@0\nmedia.ts\n", words: ["skd://token"], isRight: true),
        Case(
            source: "22 sdk: of a vendor's page",
            playlist: head + key("sdk://72ea9ec1-abb4-40d8-b3a9-e0bd1833bd58:0123456789ABCDEF0123456789ABCDEF")
                + segment(),
            words: ["Error: sdk://72ea9ec1", "a slip for skd"], isRight: false),
        Case(
            source: "of the same kind: KEYFORMAT misspelled in one of two tags",
            playlist: head + key("skd://a") + segment()
                + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://b\",KEYFORMAT=\"com.apple.streamingkeydelivry\"\n"
                + segment(),
            words: ["Error: The key tags have KEYFORMAT \"com.apple.streamingkeydelivry\""], isRight: false),
        Case(
            source: "of the same kind: one key without KEYFORMAT beside a sound one",
            playlist: head + key("skd://a") + segment() + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://b\"\n" + segment(),
            words: ["Error: The skd: key has no KEYFORMAT"], isRight: false),
        Case(
            source: "of the same kind: two IVs under one key URI",
            playlist: head + key("skd://a\",IV=0x01,X=\"") + segment() + key("skd://a\",IV=0x02,X=\"") + segment(),
            words: ["Warning: skd://a: its key tags state 2 IVs"], isRight: true),
        Case(
            source: "an IV that is stated twice, in two forms",
            playlist: head + key("skd://a\",IV=0x01,X=\"") + segment() + key("skd://a\",IV=0X0001,X=\"") + segment(),
            words: ["skd://a"], isRight: true),
        Case(
            source: "of the same kind: an unknown METHOD",
            playlist: head + key("skd://a", "SAMPLE-AES-CBC") + segment(),
            words: ["Error: The FairPlay keys have METHOD=SAMPLE-AES-CBC"], isRight: false),
    ]

    @Test(arguments: cases) func `keys lists a playlist's contents and errors`(_ one: Case) async throws {
        let run = try await keys(["p.m3u8": one.playlist])
        #expect(run.status == (one.isRight ? .yes : .no), "\(run.output)\(run.error)")
        for words in one.words { #expect(run.output.contains(words), "\(run.output)") }
        #expect(run.output.contains("Error: ") != one.isRight)
    }

    @Test(arguments: [("", "with an empty URI"), (nil, "without URI")])
    func `3 ExoPlayer#10240: an empty URI differs from none`(_ uri: String?, _ words: String) async throws {
        let tag = "#EXT-X-KEY:METHOD=SAMPLE-AES,\(uri.map { "URI=\"\($0)\"," } ?? "")\(Self.fairPlay)\n"
        let run = try await keys(["p.m3u8": Self.head + Self.key("skd://a1") + Self.segment() + tag + Self.segment()])
        #expect(run.status == .no && run.error.contains("Line 7") && run.error.contains("a key tag \(words)"))
    }

    @Test func `5 m3u8#257: a session key with an IV in its URI, as in the media`() async throws {
        let uri = "skd://00112233-4455-6677-8899-aabbccddeeff:0102030405060708090A0B0C0D0E0F10"
        let master =
            "#EXTM3U\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"\(uri)\",\(Self.fairPlay)\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let run = try await keys(["p.m3u8": master, "v.m3u8": Self.head + Self.key(uri) + Self.segment()])
        #expect(run.status == .yes && run.output.hasSuffix("FairPlay keys\n  \(uri)\n"), "\(run.output)")
    }

    @Test func `7 media#1045: only FairPlay's key of two systems`() async throws {
        let other =
            #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:,AA==",KEYID=0X00112233445566778899aabbccddeeff,KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed",KEYFORMATVERSIONS="1""#
        let run = try await keys(["p.m3u8": Self.head + Self.key("skd://a") + other + "\n" + Self.segment()])
        #expect(run.status == .yes && run.output.hasSuffix("FairPlay keys\n  skd://a\n"))
    }

    @Test func `13 shaka#3506: commas and quotes of server-side ads`() throws {
        let text =
            "#EXTM3U\n#CSM\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://00112233-4455-6677-8899-aabbccddeeff\",\(Self.fairPlay)\n"
            + #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",URI="https://csm.example.com/1,2,proxy.1/11.m3u8?yo.p.cu=&yo.av=3""#
            + "\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2, avc1.42E01E\",AUDIO=\"a\"\nhttps://csm.example.com/1,2/2.m3u8\n"
        let playlist = try Playlist(Data(text.utf8))
        #expect(playlist.fairPlayURIs == ["skd://00112233-4455-6677-8899-aabbccddeeff"])
        #expect(PlaylistChecks(playlist).checks.isEmpty)
    }

    @Test(arguments: [
        ("skd://drmtoday?assetId=a&variantId=", "skd://drmtoday?assetId=a&variantId=video"),
        ("skd://ffffffff-e4f5-0617-2839-4a5b6c7d8e9f", "skd://a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"),
        ("skd://a", "skd://A"), ("skd://a", "skd://a?session=1"), ("skd://key/1", "skd://key/01"),
    ])
    func `17 and 18: an unused session key is not a key of the stream`(_ session: String, _ media: String)
        async throws
    {
        let master =
            "#EXTM3U\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"\(session)\",\(Self.fairPlay)\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let files = ["p.m3u8": master, "v.m3u8": Self.head + Self.key(media) + Self.segment() + "#EXT-X-ENDLIST\n"]
        let run = try await keys(files)
        #expect(run.status == .yes && run.output.contains("FairPlay keys\n  \(media)\n"), "\(run.output)")
        #expect(run.output.contains("FairPlay session keys that open nothing\n  \(session)\n"))
        #expect(run.output.contains("no EXT-X-SESSION-KEY names it"))
        let folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        let json = await RecordedRun("keys", "--json", folder.path("p.m3u8")).json
        #expect(json["fairplayURIs"] as? [String] == [media] && json["unusedSessionKeys"] as? [String] == [session])
        let codes = (json["checks"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
        #expect(codes == ["keyOpensNothing", "keyWithoutSessionKey"])
    }

    @Test func `a live stream may have more keys than session keys`() async throws {
        let master =
            "#EXTM3U\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://1\",\(Self.fairPlay)\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let live = Self.head + Self.key("skd://1") + Self.segment() + Self.key("skd://2") + Self.segment()
        #expect(try await !keys(["p.m3u8": master, "v.m3u8": live]).output.contains("Warning"))
        #expect(try await keys(["p.m3u8": master, "v.m3u8": live + "#EXT-X-ENDLIST\n"]).output.contains("names it"))
    }

    @Test(arguments: [
        ("skd://live/CHANNEL_A", true), ("skd://key1?variant=AUDIO", true), ("skd://host/a/b", true),
        ("skd://movie-1", false), ("skd://movie-1/", false), ("skd://a:b", false),
    ])
    func `6 hlsdl#3: a generic profile's omission in a key URI is shown`(_ uri: String, _ isSaid: Bool) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.head + Self.key(uri) + Self.segment(), to: "p.m3u8")
        let diagnosis = { (profile: VendorProfile) in
            StreamDiagnosis(
                profile: profile, credentials: .none, hosts: HostPolicy(), player: .none,
                transport: FakeTransport { _, _ in .status(404) })
        }
        let found = await diagnosis(.genericRaw).report(on: folder.path("p.m3u8")).checks
        #expect(found.contains { $0.code == "identifierDropsPart" } == isSaid)
        let fixed = await diagnosis(.genericRaw.setting("contentId", to: "a")).report(on: folder.path("p.m3u8")).checks
        #expect(!fixed.contains { $0.code == "identifierDropsPart" })
    }
}

/// Servers' behavior that AVPlayer does not accept: `Documentation/Media.md` §11.
@Suite(.timeLimit(.minutes(1))) struct DeliveryTests {
    private static let playlist = Data("#EXTM3U\n#EXT-X-TARGETDURATION:6\n".utf8)
    private static let media = Data([0, 0, 0, 8] + "ftyp".utf8 + [UInt8](repeating: 0, count: 92))

    private func codes(
        _ address: String, _ range: Range<Int>? = nil, _ replies: [FakeTransport.Step]
    ) async throws -> [String] {
        let watch = DeliveryWatch()
        let web = WebResources(transport: FakeTransport(get: replies, post: []), watch: watch)
        _ = try await web.resource(at: address, range: range, limit: 1_000)
        return watch.findings.map(\.code)
    }

    @Test(
        arguments: [
            (200, [("Content-Length", "100")], 100, ["rangeIgnored"]), (200, [], 100, ["rangeIgnored"]),
            (206, [("Content-Length", "50")], 50, []),
            (206, [("Transfer-Encoding", "chunked")], 50, ["rangeWithoutLength"]),
            (206, [("content-length", "50"), ("Content-Encoding", "gzip")], 50, ["rangeEncoded"]),
            (206, [("content-length", "50"), ("Content-Encoding", "identity")], 50, []),
        ] as [(Int, [(String, String)], Int, [String])])
    func `a range's reply is compared with AVPlayer's requirements`(
        _ status: Int, _ headers: [(String, String)], _ count: Int, _ codes: [String]
    ) async throws {
        let reply = FakeTransport.Step.reply(
            HTTPReply(status: status, headers: headers, body: Self.media.prefix(count)))
        #expect(try await self.codes("https://h.example/all.mp4", 0..<50, [reply]) == codes)
    }

    @Test(arguments: [(206, 100), (206, 49), (206, 0)])
    func `a range of the wrong length is an error`(_ status: Int, _ count: Int) async {
        let reply = FakeTransport.Step.reply(HTTPReply(status: status, body: Self.media.prefix(count)))
        await #expect { try await codes("https://h.example/all.mp4", 0..<50, [reply]) } throws: {
            ($0 as? Diagnosis)?.code == "rangeWrong"
        }
    }

    @Test(
        arguments: [
            ("https://h.example/a.m3u8", "text/plain", []), ("https://h.example/a.M3U", nil, []),
            ("https://h.example/play", "application/vnd.apple.mpegurl; charset=utf-8", []),
            ("https://h.example/play", "Audio/mpegURL", []), ("https://h.example/play", "application/x-mpegURL", []),
            ("https://h.example/play", "text/plain", ["playlistUnidentified"]),
            ("https://h.example/play", nil, ["playlistUnidentified"]),
            ("https://h.example/play?f=a.m3u8", "application/octet-stream", ["playlistUnidentified"]),
        ] as [(String, String?, [String])])
    func `a name or a type makes a playlist`(_ address: String, _ type: String?, _ codes: [String]) async throws {
        let headers = type.map { [("Content-Type", $0)] } ?? []
        let reply = FakeTransport.Step.reply(HTTPReply(status: 200, headers: headers, body: Self.playlist))
        #expect(try await self.codes(address, nil, [reply]) == codes)
    }

    @Test(arguments: [
        ("https://h.example/a.m3u8", "https://cdn.example/a.m3u8", []), ("https://h.example/a.m3u8", "/b.m3u8", []),
        ("https://h.example/a.m3u8", "http://h.example/a.m3u8", ["redirectToHTTP"]),
        ("http://h.example/a.m3u8", "https://h.example/a.m3u8", ["redirectToHTTPS"]),
    ])
    func `a redirect to or from TLS is reported`(_ from: String, _ to: String, _ codes: [String]) async throws {
        let replies: [FakeTransport.Step] = [
            .status(302, [("Location", to)]), .reply(HTTPReply(status: 200, body: Self.playlist)),
        ]
        #expect(try await self.codes(from, nil, replies) == codes)
    }

    @Test(arguments: ["gzip", "br", "zstd"]) func `a compressed reply is named`(_ coding: String) async {
        let reply = FakeTransport.Step.reply(
            HTTPReply(status: 200, headers: [("Content-Encoding", coding)], body: Data([0x1f, 0x8b, 8, 0])))
        await #expect { try await codes("https://h.example/a.m3u8", nil, [reply]) } throws: { error in
            (error as? Diagnosis)?.code == "contentEncoded" && "\(error)".contains(coding)
        }
    }

    @Test func `a decoded reply is accepted though its header says gzip`() async throws {
        let reply = FakeTransport.Step.reply(
            HTTPReply(status: 200, headers: [("Content-Encoding", "gzip")], body: Self.playlist))
        #expect(try await codes("https://h.example/a.m3u8", nil, [reply]) == [])
    }

    @Test func `one fault in a thousand segments is reported once`() async throws {
        let watch = DeliveryWatch()
        let web = WebResources(
            transport: FakeTransport { _, _ in .reply(HTTPReply(status: 200, body: Self.media)) }, watch: watch)
        for index in 0..<50 {
            _ = try await web.resource(at: "https://h.example/\(index).mp4?token=hunter2", range: 0..<9, limit: 1_000)
        }
        #expect(watch.findings.count == 1 && watch.findings.first?.reason.contains("hunter2") == false)
    }
}
