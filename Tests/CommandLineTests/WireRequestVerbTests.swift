import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct WireRequestVerbTests {
    static let spc = Data([0xfb, 0xff, 0x00, 0x01] + (0..<60).map { UInt8($0) })
    static let token = "T0ken|with\"odd+chars/hidden7890"

    private static func run(_ words: [String], spc: Data = spc) async -> RecordedRun {
        await RecordedRun(["wire", "request"] + words, tool: .standard, input: spc)
    }

    /// All parameters of a profile by their examples, the credentials by the token.
    private static func settings(of profile: VendorProfile) -> [String] {
        profile.parameters.flatMap { ["--set", "\($0.name)=\($0.isCredential ? token : $0.example)"] }
    }

    private static let vuDRM = [
        "--vendor", "vudrm", "--set", "certificateURL=https://c.example/fps.cer", "--set", "token=\(token)",
        "--key-uri",
        "skd://fairplay-license.vudrm.tech/license/movie-1",
    ]

    @Test func `the exact request is shown when revealed`() async throws {
        let run = await Self.run(Self.vuDRM + ["--spc", "-", "--json", "--reveal"])
        #expect(run.status == .yes)
        #expect(run.json["method"] as? String == "POST")
        #expect(run.json["url"] as? String == "https://fairplay-license.vudrm.tech/license/movie-1")
        #expect(run.json["headers"] as? [String: String] == ["Content-Type": "application/json"])
        #expect(run.json["contentIdentifier"] as? String == "skd://fairplay-license.vudrm.tech/license/movie-1")
        #expect(run.json["requestContentID"] as? String == "movie-1")
        #expect(run.json["note"] == nil)
        let body = try #require((run.json["bodyBase64"] as? String).flatMap { Data(base64Encoded: $0) })
        let members = try #require(JSONSerialization.jsonObject(with: body) as? [String: String])
        #expect(
            members == ["token": Self.token, "contentId": "movie-1", "payload": Self.spc.base64EncodedString()])
    }

    @Test func `header fields are spelled as on the vendor's page`() async throws {
        let run = await Self.run(["--vendor", "vudrm-jw4"] + Self.vuDRM.dropFirst(2) + ["--spc", "-", "--reveal"])
        #expect(run.output.contains("x-vudrm-token: \(Self.token)"))
    }

    @Test func `without reveal the request has no secrets and says so`() async throws {
        let run = await Self.run(Self.vuDRM + ["--spc", "-", "--json"])
        let body = try #require((run.json["bodyBase64"] as? String).flatMap { Data(base64Encoded: $0) })
        let members = try #require(JSONSerialization.jsonObject(with: body) as? [String: String])
        #expect(members["contentId"] == "movie-1")
        #expect(members["token"] == "‹31:\(Secret(Self.token).digest)›")
        #expect((run.json["note"] as? String)?.contains("--reveal") == true)
    }

    /// Every text in which the token or the SPC could be recognized.
    private static let forms: [String] = {
        let base64 = [spc.base64EncodedString(), Data(token.utf8).base64EncodedString()]
        return [token, "hidden7890", String(base64[0].prefix(12)), String(base64[1].prefix(12))]
    }()

    @Test(arguments: VendorProfile.all, ["license", "renewal"])
    func `no vendor's request shows a secret`(profile: VendorProfile, stage: String) async throws {
        let key = "skd://YWI/YWJj?b=1&cid=2&kid=3&KID=4&contentId=5&keyId=6&playbackId=7&assetId=8"
        let lookup = (profile.lookup?.values.keys.sorted() ?? []).flatMap { ["--lookup", "\($0)=https://l.example/x"] }
        let session = ["--session", "sessionToken=\(Self.token)"]
        let words = ["--vendor", profile.identifier, "--key-uri", key, "--spc", "-", "--stage", stage]
        let all = words + Self.settings(of: profile) + lookup + session
        for run in [await Self.run(all), await Self.run(all + ["--json"])] {
            #expect(run.status == .yes, "\(run.error)")
            let body = (run.json["bodyBase64"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
            let shown = run.output + run.error + String(decoding: body, as: UTF8.self)
            let unescaped = shown.replacing("\\", with: "").removingPercentEncoding ?? shown
            for form in Self.forms { #expect(!shown.contains(form) && !unescaped.contains(form), "\(form)") }
            #expect(body.range(of: Self.spc) == nil)
        }
        let revealed = await Self.run(all + ["--json", "--reveal"])
        #expect(revealed.json["note"] == nil)
    }

    @Test func `the text output shows an HTTP request`() async {
        let run = await Self.run([
            "--vendor", "vudrm-raw", "--set", "certificateURL=https://c.example/fps.cer", "--set",
            "token=\(Self.token)",
            "--key-uri", "skd://fairplay-license.vudrm.tech/license/movie-1", "--spc", "-",
        ])
        #expect(
            run.output.hasPrefix(
                "POST https://fairplay-license.vudrm.tech/license/movie-1\nContent-Type: application/octet-stream\n"))
        #expect(run.output.contains("\nContent identifier  movie-1\n"))
        #expect(run.output.contains("\n\n‹64:\(Secret(Self.spc).digest)›\n"))
    }

    @Test func `the certificate request needs no SPC or key`() async {
        let run = await Self.run([
            "--vendor", "vudrm", "--stage", "certificate", "--set", "certificateURL=https://c.example/fps.cer?x=1",
            "--set", "token=\(Self.token)", "--json",
        ])
        #expect(run.json["method"] as? String == "GET")
        #expect(run.json["url"] as? String == "https://c.example/fps.cer")
        // Foundation on Linux writes names of header fields with capitals.
        let headers = run.json["headers"] as? [String: String] ?? [:]
        #expect(headers.first { $0.key.lowercased() == "x-vudrm-token" }?.value.hasPrefix("‹31:") == true)
        #expect(run.json["bodyBase64"] == nil)
        #expect(run.json["contentIdentifier"] == nil)
    }

    @Test func `the entitlement request is the profile's lookup`() async throws {
        let run = await Self.run([
            "--vendor", "expressplay-entitlement", "--stage", "entitlement", "--key-uri",
            "skd://ees.example/sees?cid=m-1",
            "--message-id", "M-1", "--json",
        ])
        #expect(run.json["url"] as? String == "https://ees.example/sees?cid=m-1")
        let body = try #require((run.json["bodyBase64"] as? String).flatMap { Data(base64Encoded: $0) })
        #expect(String(decoding: body, as: UTF8.self) == #"{"contentID":"m-1","messageID":"M-1","version":1}"#)
        let license = await Self.run([
            "--vendor", "expressplay-entitlement", "--key-uri", "skd://ees.example/sees?cid=m-1", "--spc", "-",
            "--json",
            "--lookup", "tokenURL=https://fp.example/rights/?ExpressPlayToken=SECRET-TOKEN",
        ])
        #expect((license.json["url"] as? String)?.hasPrefix("https://fp.example/rights/?ExpressPlayToken=") == true)
        #expect(!license.output.contains("SECRET-TOKEN"))
    }

    @Test(arguments: ["setup", "heartbeat", "teardown"])
    func `a session's requests carry its token, hidden`(step: String) async throws {
        let words = [
            "--vendor", "nagra", "--stage", step, "--set", "token=\(Self.token)", "--set",
            "sessionURL=https://s.example/T/ssm/v1",
            "--session", "sessionToken=SESSION-TOKEN", "--json",
        ]
        let run = await Self.run(words)
        #expect(run.json["url"] as? String == "https://s.example/T/ssm/v1/sessions/\(step)")
        #expect(run.json["stage"] as? String == step)
        #expect(!run.output.contains("SESSION-TOKEN") && !run.output.contains("hidden7890"))
        let revealed = await Self.run(words + ["--reveal"])
        let token = step == "setup" ? Self.token : "SESSION-TOKEN"
        #expect((revealed.json["headers"] as? [String: String])?.values.contains(token) == true)
    }

    @Test func `a profile from a file works like a vendor`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("mine.json")
        var profile = VendorProfile.vuDRMRaw
        profile.identifier = "mine"
        try JSONEncoder().encode(profile).write(to: URL(fileURLWithPath: file))
        let words = ["--set", "certificateURL=https://c.example/fps.cer", "--set", "token=\(Self.token)"]
        let run = await Self.run(["--profile", file, "--stage", "certificate", "--json"] + words)
        #expect(run.json["vendor"] as? String == "mine")
        #expect(run.json["url"] as? String == "https://c.example/fps.cer")
    }

    @Test(arguments: [
        (["--vendor", "vudrm", "--stage", "setup"], "noSessions"),
        (["--vendor", "vudrm", "--stage", "heartbeat"], "noSessions"),
        (["--vendor", "vudrm", "--stage", "teardown"], "noSessions"),
        (["--vendor", "nagra", "--stage", "setup", "--set", "token=x"], "missingSetting"),
        (["--vendor", "vudrm", "--stage", "entitlement", "--key-uri", "skd://x"], "noLookup"),
        (["--vendor", "axinom", "--key-uri", "skd://h/x", "--spc", "-"], "missingSetting"),
        (["--vendor", "vudrm", "--key-uri", "skd://h/x", "--spc", "-"], "missingCredential"),
        (["--vendor", "expressplay", "--stage", "certificate", "--set", "certificate=MIIB"], "certificateMalformed"),
        (["--vendor", "azure", "--spc", "/nonexistent.spc", "--key-uri", "skd://h/x"], "cannotRead"),
        (["--profile", "/nonexistent.json", "--spc", "-"], "cannotRead"),
    ])
    func `an unsendable request is an error`(words: [String], code: String) async {
        let run = await Self.run(words + ["--json"])
        #expect(run.status == .no)
        #expect(run.errorCode == code)
    }

    @Test func `a broken profile file is refused with its first problems`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("broken.json")
        try Data(#"{"identifier":"x"}"#.utf8).write(to: URL(fileURLWithPath: file))
        for words in [["wire", "request", "--spc", "-"], ["play", "x.m3u8", "--credentials", folder.path("none")]] {
            let run = await RecordedRun(words + ["--profile", file, "--json"], tool: .standard)
            #expect(run.status == .no)
            #expect(run.errorCode == "profileMalformed")
            #expect(run.output.contains("name: The member is missing."))
        }
    }

    @Test(arguments: [
        ["--spc", "-"], ["--vendor", "vudrm", "--profile", "x.json"], ["--vendor", "vudmr"],
        ["--vendor", "vudrm", "--set", "tokn=x"], ["--vendor", "azure", "--key-uri", "skd://x"],
        ["--vendor", "azure", "--spc", "-"], ["--vendor", "azure", "--stage", "lookup"],
        ["--vendor", "expressplay-entitlement", "--stage", "entitlement"],
    ])
    func `conflicting options are wrong usage`(words: [String]) async {
        let run = await Self.run(words)
        #expect(run.status == .usage)
        #expect(run.output == "")
    }
}
