import Foundation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct VendorsIdentifyVerbTests {
    private static let ezdrm = "skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585"

    private static func playlist(_ uri: String) -> String {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(uri)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
        #EXTINF:6,
        a.ts
        #EXT-X-ENDLIST

        """
    }

    private func identify(_ words: [String], input: String = "") async -> RecordedRun {
        await RecordedRun(["vendors", "identify"] + words, tool: .standard, input: Data(input.utf8))
    }

    private func best(_ run: RecordedRun) -> [String: Any]? { (run.json["matches"] as? [[String: Any]])?.first }

    @Test func `a key URI is named with the reason`() async {
        let run = await identify([Self.ezdrm])
        #expect(run.status == .yes)
        #expect(run.output.hasPrefix("certain: EZDRM (ezdrm"))
        #expect(run.output.contains("\n  The host ezdrm.com in the key URI is the vendor's.\n"))
        #expect(run.output.hasSuffix("latchkey vendors ezdrm says what it needs.\n"))
        let json = await identify(["--json", Self.ezdrm])
        #expect(best(json)?["profile"] as? String == "ezdrm")
        #expect(best(json)?["confidence"] as? String == "certain")
        #expect((best(json)?["reasons"] as? [String])?.isEmpty == false)
    }

    @Test func `a custom profile is compared with the input too`() async throws {
        let folder = try TemporaryFolder()
        var profile = VendorProfile.genericJSON
        (profile.identifier, profile.name) = ("acme", "Acme Keys")
        profile.license.headers = [.init("X-Acme-Ticket", .credential("token"))]
        try JSONEncoder().encode(profile).write(to: folder.file("acme.json"))
        let request = "curl 'https://keys.acme.example/' -H 'x-acme-ticket: T' --data '{\"spc\":\"AAAA\"}'"
        let without = await identify(["--json", request])
        #expect(best(without)?["profile"] as? String != "acme")
        let with = await identify(["--json", request, "--profile", folder.path("acme.json")])
        #expect(best(with)?["profile"] as? String == "acme", "\(with.output)")
    }

    @Test(arguments: ["-", "file"])
    func `a playlist is named by its keys`(place: String) async throws {
        let folder = try TemporaryFolder()
        let text = Self.playlist("skd://drmtoday?assetId=a&variantId=b")
        try Data(text.utf8).write(to: folder.file("p.m3u8"))
        let run = await identify(["--json", place == "-" ? "-" : folder.path("p.m3u8")], input: text)
        #expect(best(run)?["profile"] as? String == "drmtoday")
    }

    @Test(arguments: [
        "POST /license HTTP/1.1\r\nHost: proxy.example\r\nx-vudrm-token: SECRET\r\n\r\n",
        "> POST /license HTTP/2\n> Host: proxy.example\n> x-vudrm-token: SECRET\n>\n< HTTP/2 403\n< x-request-id: 1\n<\n",
        "curl 'https://proxy.example/license' \\\n  -H 'x-vudrm-token: SECRET' \\\n  --data-binary @spc",
        """
        {"log":{"version":"1.2","entries":[
          {"request":{"method":"GET","url":"https://cdn.example/a.ts","headers":[]},"response":{"status":200,"content":{}}},
          {"request":{"method":"POST","url":"https://proxy.example/license",
           "headers":[{"name":"x-vudrm-token","value":"SECRET"}],"postData":{"mimeType":"application/octet-stream","text":"x"}},
           "response":{"status":200,"headers":[],"content":{"text":"AAAA","encoding":"base64"}}}]}}
        """,
    ])
    func `a capture in each form is named, and its token is not shown`(text: String) async {
        for options in [[], ["--json"]] {
            let run = await identify(options + ["-"], input: text)
            #expect(run.status == .yes)
            #expect(run.output.contains("vudrm"))
            #expect(!(run.output + run.error).contains("SECRET"))
        }
    }

    @Test func `a curl command can be an argument, and a reply a file`() async throws {
        let run = await identify([
            "curl -X POST https://h.example/x -H 'pallycon-customdata-v2: T' -d spc=AAAA", "--json",
        ])
        #expect(best(run)?["profile"] as? String == "doverunner")
        let reply = await identify(
            ["-", "--json"], input: "HTTP/1.1 401 Unauthorized\nContent-Type: text/plain\n\nMDRM-1002")
        #expect((best(reply)?["profile"] as? String)?.hasPrefix("verimatrix") == true)
    }

    @Test func `a playlist inside a HAR file counts`() async throws {
        let body = Data(Self.playlist(Self.ezdrm).utf8).base64EncodedString()
        let har = """
            {"log":{"entries":[{"request":{"method":"GET","url":"https://cdn.example/p.m3u8"},
            "response":{"status":200,"content":{"text":"\(body)","encoding":"base64"}}}]}}
            """
        #expect(best(await identify(["-", "--json"], input: har))?["profile"] as? String == "ezdrm")
    }

    @Test func `all inputs are of one stream`() async {
        let run = await identify([
            "skd://movie-1", "curl https://h/x -H 'X-AxDRM-Message: T' --data-binary @spc", "--json",
        ])
        #expect(best(run)?["profile"] as? String == "axinom")
    }

    @Test func `a vendor without a profile is named`() async {
        let run = await identify(["curl https://license.vdocipher.com/auth/fps/T -d spc=A"])
        #expect(run.status == .yes)
        #expect(run.output.hasPrefix("certain: VdoCipher (no profile)"))
        #expect(!run.output.contains("says what it needs"))
    }

    @Test(arguments: ["skd://movie-1", "skd:", "skd://"])
    func `an unknown URI answers no`(uri: String) async {
        let run = await identify([uri])
        #expect(run.status == .no)
        #expect(run.output.contains("Nothing in it"))
    }

    @Test(arguments: [
        ("hello", "captureUnknown"), ("{\"a\":1}", "captureMalformed"), ("", "captureUnknown"),
        ("curl 'https://x", "captureMalformed"), ("curl -H a:b", "captureMalformed"),
    ])
    func `a non-capture is a typed error`(text: String, code: String) async {
        let run = await identify(["-", "--json"], input: text)
        #expect(run.status == .no)
        #expect(run.errorCode == code)
    }

    @Test func `a missing file and missing input are distinct errors`() async {
        #expect(await identify(["/nonexistent/x.har", "--json"]).errorCode == "cannotRead")
        let none = await identify([])
        #expect(none.status == .usage)
        #expect(none.error.contains("INPUT is missing."))
    }
}
