import Foundation
import Latchkey
import LatchkeySupport
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyCore
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `latchkey capture` and `latchkey replay`, with the emulated services of this process.
@Suite(.timeLimit(.minutes(5))) struct CaptureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Has the services of this process answer, but for what a test answers itself.
    private struct Refusing: Transport {
        let base = SystemTransport()
        let answer: @Sendable (URLRequest) -> HTTPReply?

        func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
            if let reply = answer(request) { return reply }
            return try await base.send(request, bodyLimit: bodyLimit)
        }
    }

    private static func setting(
        _ profile: VendorProfile, _ answer: @escaping @Sendable (URLRequest) -> HTTPReply?
    ) throws -> PlaySetting {
        try .builtIn(profile, terms: LicenseTerms(.unlimited), over: Refusing(answer: answer)) {
            let names = Set(profile.parameters.map(\.name))
            return try profile.configured($0.filter { names.contains($0.key) })
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .axinom, .expressPlay, .nagra])
    func `a refused license is captured, and refused again`(_ profile: VendorProfile) async throws {
        let setting = try Self.setting(profile) { request in
            request.httpMethod == "POST" ? HTTPReply(status: 403, body: Data("{\"message\":\"no\"}".utf8)) : nil
        }
        let outcome = try await Capture(setting: setting).outcome()
        await setting.close()
        #expect(outcome.failure?.code == "forbidden")
        let bundle = try SupportBundle(outcome.bundle)
        let replayed = try await Replay(bundle: bundle).outcome()
        #expect(replayed.isSame && replayed.stage == outcome.failure?.stage)
    }

    @Test func `a playlist that is not there is captured, and missed again`() async throws {
        let setting = try Self.setting(.vuDRM) { request in
            request.url?.pathExtension == "m3u8" ? HTTPReply(status: 404) : nil
        }
        let outcome = try await Capture(setting: setting).outcome()
        await setting.close()
        #expect(outcome.failure?.code == "httpStatus")
        let replayed = try await Replay(bundle: SupportBundle(outcome.bundle)).outcome()
        #expect(replayed.isSame && replayed.stage == "playlist")
    }

    @Test func `a stream that plays is captured by its keys, and replays without an error`() async throws {
        let file = folder.path("bundle.zip")
        let run = await RecordedRun("capture", "--vendor", "vudrm", "--out", file, "--json")
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.json["replays"] as? Bool == true)
        let replay = await RecordedRun("replay", file)
        #expect(replay.status == .yes && replay.output.contains("no error, as captured"))
        let again = await RecordedRun("capture", "--vendor", "vudrm", "--out", file)
        #expect(again.status == .no && again.error.contains("--force"))
    }

    @Test func `a capture says what it wrote, unless the bundle itself goes to standard output`() async throws {
        let file = folder.path("bundle.zip")
        let told = await RecordedRun("capture", "--vendor", "vudrm", "--out", file)
        #expect(told.output.contains("latchkey replay \(file)"), "\(told.output)")
        let piped = await RecordedRun("capture", "--vendor", "vudrm", "--out", "-")
        #expect(piped.output.hasPrefix("PK") && !piped.output.contains("latchkey replay - "))
    }

    @Test(arguments: [Data(), Data("PK".utf8), Data(count: 100), Data("{}".utf8)])
    func `what is no bundle is refused with what to do`(_ data: Data) async throws {
        let run = await RecordedRun(["replay", "-", "--json"], tool: .standard, input: data)
        #expect(run.status == .no && run.errorCode == "zipMalformed")
    }
}

/// `latchkey doctor --har`.
@Suite(.timeLimit(.minutes(2))) struct TrafficDiagnosisTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ entries: [String], _ words: String...) async throws -> RecordedRun {
        let text = "{\"log\":{\"version\":\"1.2\",\"entries\":[\(entries.joined(separator: ","))]}}"
        try Data(text.utf8).write(to: folder.file("session.har"))
        return await RecordedRun(["doctor", "--har", folder.path("session.har"), "--json"] + words, tool: .standard)
    }

    private static func entry(_ method: String, _ url: String, _ status: Int, _ text: String) -> String {
        let body = method == "POST" ? ",\"postData\":{\"mimeType\":\"application/json\",\"text\":\"{}\"}" : ""
        let text = text.replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return """
            {"request":{"method":"\(method)","url":"\(url)","headers":[{"name":"x-vudrm-token","value":"secret-token-1"}]\(body)},
            "response":{"status":\(status),"headers":[],"content":{"text":"\(text)"}}}
            """
    }

    private static let playlist = entry(
        "GET", "https://cdn.example/media.m3u8", 200,
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://fairplay-license.vudrm.tech/license/a\","
            + "KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
    )
    private static let license = "https://fairplay-license.vudrm.tech/license/a"

    @Test func `a refusal is read with the vendor's profile, which the capture names`() async throws {
        let run = try await run([Self.playlist, Self.entry("POST", Self.license, 401, "{\"message\":\"expired\"}")])
        #expect(run.status == .no)
        #expect(
            (run.json["cause"] as? [String: Any])?["code"] as? String == "unauthenticated", "\(run.output)\(run.error)")
        #expect(!run.output.contains("secret-token-1"))
    }

    @Test func `a page in place of the certificate is named`() async throws {
        let run = try await run(
            [Self.entry("GET", "https://fairplay-license.vudrm.tech/certificate/demo", 200, "<html></html>")],
            "--vendor", "vudrm")
        #expect((run.json["cause"] as? [String: Any])?["code"] as? String == "certificateMalformed")
    }

    @Test func `a request without a reply is told`() async throws {
        let run = try await run([Self.entry("POST", Self.license, 0, "")], "--vendor", "vudrm")
        #expect((run.json["cause"] as? [String: Any])?["code"] as? String == "noReplyCaptured")
    }

    @Test func `a capture of something else says what to record`() async throws {
        let run = try await run([Self.entry("GET", "https://a.example/", 200, "hello")], "--vendor", "vudrm")
        #expect((run.json["cause"] as? [String: Any])?["code"] as? String == "nothingCaptured")
        let stranger = Self.entry("GET", "https://a.example/", 200, "hello").replacing("x-vudrm-token", with: "x-any")
        let unnamed = try await self.run([stranger])
        #expect(unnamed.status == .usage)
    }

    @Test(arguments: [["p.m3u8"], ["--spc", "s"], ["--licenses", "2"], ["--trace", "t.html"]])
    func `it goes with nothing that asks a server`(_ words: [String]) async throws {
        let run = await RecordedRun(["doctor", "--har", "s.har", "--vendor", "vudrm"] + words, tool: .standard)
        #expect(run.status == .usage)
    }

    @Test func `a capture from a stranger is refused with its place, however deep`() async throws {
        for text in [String(repeating: "{\"log\":", count: 20_000), "{\"log\":{\"entries\":[7]}}"] {
            try Data(text.utf8).write(to: folder.file("deep.har"))
            let run = await RecordedRun(
                ["doctor", "--har", folder.path("deep.har"), "--vendor", "vudrm", "--json"], tool: .standard)
            #expect(run.status == .no && run.errorCode == "captureMalformed")
        }
    }

    @Test(arguments: [
        "hello", "#EXTM3U", "[]", "", "{}", #"{"log":7}"#, #"{"log":{"entries":{}}}"#, #"{"keys":[]}"#,
    ])
    func `what is no archive is refused with what the option takes`(_ text: String) async throws {
        try Data(text.utf8).write(to: folder.file("wrong.har"))
        let run = await RecordedRun(["doctor", "--har", folder.path("wrong.har")], tool: .standard)
        let remedy =
            "Give --har a HAR 1.2 file, as a browser's developer tools, Charles, mitmproxy or --trace FILE.har write it."
        #expect(run.status == .no && run.output.isEmpty)
        #expect(run.error.contains("HAR file") && run.error.contains(remedy), "\(run.error)")
        #expect(!run.error.contains("playlist") && !run.error.contains("curl"))
    }
}
