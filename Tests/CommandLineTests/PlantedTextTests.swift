import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Text from outside that would control a terminal, or pass for a line of the tool, planted in every input of a verb.
@Suite(.timeLimit(.minutes(5))) struct PlantedTextTests {
    /// A title for the window, a bell, an eight-bit command, a turn of the direction of writing, and a separate line.
    private static let planted = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{2028}\u{7f}\r\nFORGED"
    /// The part that a line of a playlist can hold.
    private static let inLine = planted.replacing("\r\n", with: "\u{85}")

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, _ name: String = "file") throws -> String {
        try Data(text.utf8).write(to: folder.file(name))
        return folder.path(name)
    }

    /// Expects that everything printed is visible, and that each line is the tool's own.
    private func expectVisible(_ run: RecordedRun, _ comment: Comment? = nil) {
        let text = run.output + run.error
        #expect(!text.isEmpty, comment)
        #expect(text.unicodeScalars.filter { !$0.isVisible && $0 != "\n" } == [], comment)
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("FORGED") } == [], comment)
    }

    private var playlists: [String] {
        let text = Self.inLine
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://host/\(text)\",KEYFORMAT=\"com.apple.streamingkeydelivery\""
        let segment = "#EXTINF:6,\(text)\n\(text).ts\n#EXT-X-ENDLIST\n"
        return [
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(key),KEYFORMATVERSIONS=\"1\"\n\(segment)",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=\(text),URI=\"\(text)\",KEYFORMAT=\"\(text)\",IV=0x\(text)\n\(segment)",
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"\(text)\",VALUE=\"\(text)\"\n\(text)\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(text).m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=\(text)\nb.m3u8\n",
            "\(text)\n",
        ]
    }

    @Test(arguments: [[], ["--json"]])
    func `keys shows a playlist without control codes`(_ options: [String]) async throws {
        for playlist in playlists {
            let run = await RecordedRun(
                ["keys", try file(playlist, "list.m3u8")] + options, tool: .standard)
            expectVisible(run)
        }
    }

    @Test(arguments: [[], ["--json"]])
    func `doctor shows a playlist without control codes`(_ options: [String]) async throws {
        for playlist in playlists {
            let words = ["doctor", try file(playlist, "list.m3u8"), "--vendor", "vudrm"]
            let settings = [
                "--set", "certificateURL=http://127.0.0.1:1/\(Self.planted)", "--set", "token=\(Self.planted)",
            ]
            expectVisible(await RecordedRun(words + settings + options, tool: .standard))
        }
    }

    @Test(arguments: ["verimatrix", "azure", "nagra", "vudrm", "doverunner", "generic-json"])
    func `a refusal's headers and body are shown without terminal controls`(_ vendor: String) async throws {
        let words = try JSONEncoder().encode(["error": Self.planted, "message": Self.planted, "code": Self.planted])
        for body in [String(decoding: words, as: UTF8.self), Self.planted, "<html>\(Self.planted)"] {
            for options in [[], ["--json"]] {
                let run = await RecordedRun(
                    [
                        "wire", "response", "--vendor", vendor, "--status", "403", "--header",
                        "x-request-id: \(Self.planted)", "--header", "\(Self.inLine): x", "--body", try file(body),
                    ] + options, tool: .standard)
                expectVisible(run, "\(vendor)")
            }
        }
    }

    @Test(arguments: [[], ["--json"], ["--reveal"]])
    func `a request keeps its own lines`(_ options: [String]) async throws {
        let run = await RecordedRun(
            [
                "wire", "request", "--vendor", "vudrm-raw", "--set", "certificateURL=https://host/c", "--set",
                "token=\(Self.inLine)", "--key-uri", "skd://host/\(Self.planted)", "--spc", try file("spc"),
            ] + options, tool: .standard)
        expectVisible(run)
    }

    @Test(arguments: [[], ["--json"]])
    func `a token's claims keep their own lines`(_ options: [String]) async throws {
        let claims = try JSONEncoder().encode(["iss": Self.planted, Self.planted: "x", "kid": Self.planted])
        let token = [Data(#"{"alg":"HS256"}"#.utf8), claims, Data("s".utf8)].map { part in
            part.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let path = try file(token.joined(separator: "."))
        expectVisible(await RecordedRun(["inspect", "token", path] + options, tool: .standard))
    }

    @Test func `command-line words are echoed visibly`() async throws {
        for words in [
            ["play", "x", "--vendor", Self.planted], ["play", "x", "--\(Self.planted)"], [Self.planted],
            ["keys", "/nowhere/\(Self.planted)"], ["explain", Self.planted], ["inspect", Self.planted, "x"],
            ["play", "--vendor", "vudrm", "--for", Self.planted], ["vendors", "show", Self.planted],
            ["vendors", "check", try file("{\"\(Self.inLine)\": 1}")],
        ] { expectVisible(await RecordedRun(words, tool: .standard), "\(words[0])") }
    }

    @Test func `joiners stay; characters that hide or reorder text do not`() {
        #expect("नमस्ते क्\u{200d}ष é 👩‍👧".visible == "नमस्ते क्\u{200d}ष é 👩‍👧")
        #expect("a\u{200b}b\u{202e}c\u{feff}d\te\nf".visible == "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f")
        #expect("a\nb\u{1b}".visibleLines == "a\nb\u{fffd}")
    }

    @Test func `JSON keeps the original text, escaped`() async throws {
        let output = MemorySink()
        let console = Console(output: output, error: MemorySink(), showsProgress: false) { _ in Data() }
        try console.printJSON(["text": Self.planted + "\u{1f600}\u{e0001}"])
        let json = try JSONDecoder().decode([String: String].self, from: output.bytes)
        #expect(json["text"] == Self.planted + "\u{1f600}\u{e0001}")
        #expect(output.text.unicodeScalars.allSatisfy { $0.isVisible || $0 == "\n" })
    }
}
