import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyHTTP
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct KeysVerbTests {
    private static let media = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXTINF:6,
        a.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://one",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXTINF:6,
        b.ts
        #EXTINF:6,
        c.ts
        #EXT-X-ENDLIST

        """
    private static let parameters = """
        #EXTM3U
        #EXT-X-DEFINE:IMPORT="who"
        #EXT-X-DEFINE:QUERYPARAM="what"
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://{$who}/{$what}",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXTINF:6,
        a.ts

        """
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.file("p.m3u8"))
        return folder.path("p.m3u8")
    }

    @Test func `a table shows keys and the segments that they open`() async throws {
        let run = await RecordedRun("keys", try file(Self.media))
        #expect(run.status == .yes)
        #expect(run.error == "")
        let expected = """
            Media playlist, 3 segments

            Keys
            KEY  LINE  METHOD      SYSTEM    IV  URI
            0    6     SAMPLE-AES  FairPlay  –   skd://one

            SEGMENTS  OPENED BY KEY
            0         none, in clear
            1–2       0

            Media
            Not looked at: \(folder.url.appending(path: "a.ts").absoluteString) could not be read.

            FairPlay keys
              skd://one

            """
        #expect(run.output == expected)
    }

    @Test func `json has the playlist's facts`() async throws {
        let run = await RecordedRun("keys", "--json", try file(Self.media))
        #expect(run.status == .yes)
        #expect(run.json["kind"] as? String == "media")
        #expect(run.json["fairplayURIs"] as? [String] == ["skd://one"])
        #expect(run.json["segments"] as? Int == 3)
        #expect(run.json["error"] is NSNull)
        let runs = try #require(run.json["segmentRuns"] as? [[String: Any]])
        #expect(runs.map { $0["keys"] as? [Int] } == [[], [0]])
    }

    @Test func `a dash reads standard input`() async {
        let run = await RecordedRun("keys", "--json", "-", input: Data(Self.media.utf8))
        #expect(run.json["fairplayURIs"] as? [String] == ["skd://one"])
    }

    @Test func `variables come from imports and from the base`() async throws {
        let path = try file(Self.parameters)
        let run = await RecordedRun("keys", path, "--imports", "who=me", "--base", "https://h/p?what=it", "--json")
        #expect(run.json["fairplayURIs"] as? [String] == ["skd://me/it"])
        #expect(run.json["imports"] as? [String: String] == ["who": "me"])
        #expect(run.json["playlistURI"] as? String == "https://h/p?what=it")
    }

    @Test func `a refused playlist is reported and answers no`() async throws {
        let path = try file(Self.parameters)
        let json = await RecordedRun("keys", path, "--json")
        #expect(json.status == .no)
        #expect(json.json["error"] is String)
        let text = await RecordedRun("keys", path)
        #expect(text.status == .no)
        #expect(text.output == "")
        #expect(text.error.contains("Line 2"))
    }

    @Test func `a missing file is a failure with a code`() async {
        let run = await RecordedRun("keys", folder.path("missing"), "--json")
        #expect(run.status == .no)
        #expect(run.errorCode == "cannotRead")
    }

    @Test func `a playlist's control characters do not reach the terminal`() async throws {
        let run = await RecordedRun("keys", try file(Self.media.replacingOccurrences(of: "one", with: "\u{1b}[31m")))
        #expect(run.status == .yes)
        #expect(!run.output.contains("\u{1b}"))
    }

    @Test func `an address is loaded, and its redirects set the base`() async throws {
        let server = HTTPServer { request in
            guard request.path == "/p" else {
                return HTTPResponse(status: 302, headers: ["Location": "/p?what=moved"])
            }
            return .text(Self.parameters)
        }
        let port = try server.start()
        let run = await RecordedRun("keys", "--json", "--imports", "who=me", "http://127.0.0.1:\(port)/old")
        await server.stop()
        #expect(run.json["fairplayURIs"] as? [String] == ["skd://me/moved"])
        #expect(run.json["playlistURI"] as? String == "http://127.0.0.1:\(port)/p?what=moved")
    }

    @Test func `the server's refusal is shown without the token`() async throws {
        let server = HTTPServer { _ in .text("no", status: 403) }
        let port = try server.start()
        let run = await RecordedRun("keys", "--json", "http://127.0.0.1:\(port)/p?token=hunter2")
        await server.stop()
        #expect(run.status == .no)
        #expect(run.errorCode == "httpStatus")
        #expect(run.output.contains("status 403"))
        #expect(!run.output.contains("hunter2"))
    }

    @Test func `a body is read only up to the limit`() async throws {
        let server = HTTPServer { _ in .text(String(repeating: "x", count: 1_000)) }
        let port = try server.start()
        let web = { WebResources(playlistLimit: $0) }
        await #expect { try await web(999).playlist(at: "http://127.0.0.1:\(port)/?token=hunter2") } throws: { error in
            guard let error = error as? Diagnosis else { return false }
            return error.code == "bodyTooLarge" && error.reason.contains("127.0.0.1:\(port)")
                && !error.description.contains("hunter2")
        }
        #expect(try await web(1_000).playlist(at: "http://127.0.0.1:\(port)/").bytes.count == 1_000)
        await server.stop()
    }

    @Test func `an unreachable host is named`() async throws {
        let server = HTTPServer { _ in .text("") }
        let port = try server.start()
        await server.stop()
        let run = await RecordedRun("keys", "--json", "http://127.0.0.1:\(port)/p?token=hunter2")
        #expect(run.status == .no)
        #expect(run.errorCode == "cannotConnect")
        #expect(run.output.contains("http://127.0.0.1:\(port)/p"))
        #expect(!run.output.contains("hunter2"))
    }

    @Test func `an invalid address is a failure with a code`() async {
        let run = await RecordedRun("keys", "--json", "http://[")
        #expect(run.status == .no)
        #expect(run.errorCode == "malformedAddress")
    }

    private static let multivariant = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=1
        low/p.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2
        low/p.m3u8

        """

    @Test func `a multivariant playlist leads to its media playlists, each once`() async throws {
        let server = HTTPServer { request in
            switch request.path {
            case "/low/p.m3u8": .text(Self.media)
            case "/master.m3u8": .text(Self.multivariant)
            default: .text("no", status: 404)
            }
        }
        let port = try server.start()
        let run = await RecordedRun("keys", "http://127.0.0.1:\(port)/master.m3u8")
        await server.stop()
        #expect(run.status == .yes)
        #expect(run.error == "")
        #expect(run.output.hasPrefix("http://127.0.0.1:\(port)/master.m3u8\nMultivariant playlist, 2 streams\n"))
        #expect(run.output.components(separatedBy: "Media playlist, 3 segments").count == 2)
        #expect(run.output.hasSuffix("FairPlay keys\n  skd://one\n"))
    }

    @Test func `files lead to neighboring files`() async throws {
        try FileManager.default.createDirectory(atPath: folder.path("low"), withIntermediateDirectories: true)
        try Data(Self.media.utf8).write(to: folder.file("low/p.m3u8"))
        let run = await RecordedRun("keys", try file(Self.multivariant))
        #expect(run.status == .yes)
        #expect(run.output.contains("skd://one"))
    }

    @Test func `json follows a playlist without session keys as text does`() async throws {
        try FileManager.default.createDirectory(atPath: folder.path("low"), withIntermediateDirectories: true)
        try Data(Self.media.utf8).write(to: folder.file("low/p.m3u8"))
        let run = await RecordedRun("keys", try file(Self.multivariant), "--json")
        #expect(run.status == .yes)
        #expect(run.json["kind"] as? String == "multivariant")
        #expect(run.json["fairplayURIs"] as? [String] == ["skd://one"])
        let followed = try #require(run.json["playlists"] as? [[String: Any]])
        #expect(followed.first?["fairplayURIs"] as? [String] == ["skd://one"])
    }

    @Test func `json names the missing playlist`() async throws {
        let run = await RecordedRun("keys", try file(Self.multivariant), "--json")
        #expect(run.status == .no)
        let failures = try #require(run.json["failures"] as? [[String: Any]])
        #expect(failures.contains { ($0["error"] as? [String: Any])?["code"] as? String == "cannotRead" })
    }

    @Test(arguments: ["", "<html></html>", "\r", "hello"])
    func `a non-playlist is refused with a reason in json`(text: String) async throws {
        let run = await RecordedRun("keys", "-", "--json", input: Data(text.utf8))
        #expect(run.status == .no && run.json["error"] is String, "\(run.output)")
    }

    @Test func `a media playlist that cannot be loaded answers no`() async throws {
        let run = await RecordedRun("keys", try file(Self.multivariant))
        #expect(run.status == .no)
        #expect(run.output.contains("Multivariant playlist"))
        #expect(run.error.contains("cannotRead"))
    }

    @Test func `relative playlists on standard input need a base`() async throws {
        let run = await RecordedRun("keys", "-", input: Data(Self.multivariant.utf8))
        #expect(run.status == .no)
        #expect(run.error.contains("--base"))
    }
}
