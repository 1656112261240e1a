import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct WireResponseVerbTests {
    /// A CKC of version 1 that states its length.
    private static let ckc = Data(
        [0, 0, 0, 1] + [UInt8](repeating: 0xfb, count: 20) + [0, 0, 0, 16] + [UInt8](1...16))
    private static let certificate = Data([0x30, 0x81, 0x80] + [UInt8](repeating: 0x5a, count: 128))

    private static func run(_ words: [String], _ body: Data) async -> RecordedRun {
        await RecordedRun(["wire", "response", "--body", "-"] + words, tool: .standard, input: body)
    }

    private static func run(_ words: [String], _ body: String) async -> RecordedRun {
        await run(words, Data(body.utf8))
    }

    @Test func `a license is shown by length and digest, and written as the player gets it`() async throws {
        let folder = try TemporaryFolder()
        let run = await Self.run(["--vendor", "vudrm", "--json", "--out", folder.path("my.ckc")], Self.ckc)
        #expect(run.status == .yes)
        let ckc = try #require(run.json["ckc"] as? [String: Any])
        #expect(ckc["bytes"] as? Int == 44)
        #expect(ckc["digest"] as? String == Secret(Self.ckc).digest)
        #expect(try Data(contentsOf: folder.file("my.ckc")) == Self.ckc)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("my.ckc"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `a reply's side values and terms are shown, the values only on request`() async throws {
        let body = #"{"CkcMessage":"\#(Self.ckc.base64EncodedString())","sessionToken":"SESSION-1","persistent":true}"#
        let words = ["--vendor", "nagra", "--json"]
        let hidden = await Self.run(words, body)
        #expect(hidden.status == .yes)
        #expect(hidden.json["sideValues"] is [String: String])
        #expect(!hidden.output.contains("SESSION-1"))
        let shown = await Self.run(words + ["--reveal"], body)
        #expect((shown.json["sideValues"] as? [String: String])?.values.contains("SESSION-1") == true)
        let people = await Self.run(["--vendor", "nagra"], body)
        #expect(people.output.contains("CKC  "))
        #expect(people.output.contains("Terms"))
    }

    @Test func `a certificate is shown, and an invalid one is an error`() async {
        let words = ["--vendor", "vudrm", "--stage", "certificate", "--json"]
        let good = await Self.run(words, Self.certificate)
        #expect((good.json["certificate"] as? [String: Any])?["bytes"] as? Int == 131)
        let page = await Self.run(words, "<!DOCTYPE html><p>Not found</p>")
        #expect(page.status == .no)
        #expect(page.errorCode == "certificateMalformed")
    }

    @Test func `a refusal has code, status, request id and remedy`() async throws {
        let words = ["--vendor", "expressplay", "--status", "400", "--header", "X-Request-Id: r-17", "--header", "a:b"]
        let run = await Self.run(words + ["--json"], "<html><p>Error -2018</p></html>")
        #expect(run.status == .no)
        let error = try #require(run.json["error"] as? [String: Any])
        #expect(error["code"] as? String == "unauthenticated")
        #expect(error["status"] as? Int == 400)
        #expect(error["vendorCode"] as? String == "-2018")
        #expect(error["requestID"] as? String == "r-17")
        #expect(error["retryable"] as? Bool == false)
        #expect((error["remedy"] as? String)?.hasSuffix(".") == true)
        let people = await Self.run(words, "<html><p>Error -2018</p></html>")
        #expect(people.status == .no)
        #expect(people.output.contains(/Request id +r-17\n/))
        #expect(people.output.contains(/Vendor's code +-2018\n/))
    }

    @Test(arguments: [
        (
            "comcast", "KOpVXuVzSbYKHlMu3Q4Ptj7m8nRz1kAa",
            #"{"message":"Token KOpVXuVzSbYKHlMu3Q4Ptj7m8nRz1kAa expired"}"#
        ),
        ("generic-raw", "short-1", #"{"error":"bearer short-1 is unknown","message":"bearer short-1 is unknown"}"#),
        ("anvato", "short-3", #"{"error":{"code":"401","message":"{\"error\":{\"token\":\"short-3\"}}"}}"#),
        ("anvato", "short-2", #"{"error":{"code":"401","message":"see https://h/x?token=short-2&id=7"}}"#),
    ])
    func `a token that a service echoes is not shown`(vendor: String, token: String, body: String) async {
        var words = ["--vendor", vendor, "--status", "401"]
        if vendor == "generic-raw" { words += ["--set", "token=\(token)"] }
        for options in [[], ["--json"]] {
            let run = await Self.run(words + options, body)
            #expect(run.status == .no)
            #expect(!run.output.contains(token), "\(run.output)")
        }
    }

    @Test func `a service's words are shown without secrets, and in full when revealed`() async {
        let body = #"{"error":{"code":"404","message":"no key 297f600f-1234-1234-b060-2ac13cc42585 for token=ABC1"}}"#
        let hidden = await Self.run(["--vendor", "anvato", "--status", "404"], body)
        #expect(hidden.output.contains("no key 297f600f-1234-1234-b060-2ac13cc42585 for token=‹"))
        #expect(!hidden.output.contains("ABC1"))
        let shown = await Self.run(["--vendor", "anvato", "--status", "404", "--reveal"], body)
        #expect(shown.output.contains("token=ABC1"))
    }

    @Test(arguments: [
        (503, "Retry-After: 7", "serverTransient", true), (429, "x: y", "rateLimited", true),
        (401, "x: y", "unauthenticated", false), (404, "x: y", "notFound", false),
    ])
    func `the status decides if the vendor says nothing`(
        status: Int, header: String, code: String, retryable: Bool
    ) async throws {
        let run = await Self.run(["--vendor", "vudrm", "--status", "\(status)", "--header", header, "--json"], "no")
        #expect(run.errorCode == code)
        #expect((run.json["error"] as? [String: Any])?["retryable"] as? Bool == retryable)
    }

    /// Source: `Documentation/Vendors/README.md` §0.
    @Test func `a license in an unexpected form comes with a warning`() async throws {
        let body = "<ckc>\(Self.ckc.base64EncodedString())</ckc>"
        let run = await Self.run(["--vendor", "ezdrm", "--json"], body)
        #expect(run.status == .yes)
        let warnings = try #require(run.json["warnings"] as? [[String: String]])
        #expect(warnings.map { $0["code"] } == ["unusualForm"])
        #expect(await Self.run(["--vendor", "ezdrm"], body).output.contains(/Warning +The CKC came as XML/))
        #expect(await Self.run(["--vendor", "ezdrm", "--json"], Self.ckc).json["warnings"] == nil)
    }

    /// Source: `Documentation/Vendors/README.md` §23.7.
    @Test(arguments: ["vudrm", "azure", "generic-raw"])
    func `a vendor's words are shown without likely secrets`(vendor: String) async throws {
        let words = ["--vendor", vendor, "--status", "403"]
        let body = #"{"error":"not in the policy\u001b[2J, token=s3cr3ts3cr3t"}"#
        let run = await Self.run(words + ["--json"], body)
        let error = try #require(run.json["error"] as? [String: Any])
        #expect((error["vendorMessage"] as? String)?.hasPrefix("not in the policy [2J, token=") == true)
        let people = await Self.run(words, body)
        #expect(people.output.contains(/Vendor's words +not in the policy/))
        for output in [run.output, people.output] { #expect(!output.contains("s3cr3t") && !output.contains("\u{1b}")) }
    }

    @Test(arguments: ["", "<html></html>", "{\"error\":1}"])
    func `a success reply without a CKC is malformed`(body: String) async {
        let run = await Self.run(["--vendor", "vudrm", "--json"], body)
        #expect(run.status == .no)
        #expect(run.errorCode == "licenseMalformed")
    }

    @Test func `an entitlement gives values or a refusal`() async {
        let words = ["--vendor", "expressplay-entitlement", "--stage", "entitlement", "--message-id", "M-1", "--json"]
        let yes =
            #"{"messageID":"M-1","version":1,"isAllowed":true,"epTokenURL":"https://t.example/?ExpressPlayToken=SECRET"}"#
        let allowed = await Self.run(words, yes)
        #expect(allowed.status == .yes)
        #expect((allowed.json["sideValues"] as? [String: String])?.keys.contains("tokenURL") == true)
        #expect(!allowed.output.contains("SECRET"))
        let denied = await Self.run(words, #"{"messageID":"M-1","version":1,"isAllowed":false}"#)
        #expect(denied.errorCode == "forbidden")
        let other = await Self.run(words, #"{"messageID":"M-2","version":1,"isAllowed":true}"#)
        #expect(other.errorCode == "lookupMalformed")
    }

    @Test func `a session's reply gives token and period, or a full house's code`() async {
        let words = ["--vendor", "nagra", "--stage", "setup", "--json"]
        let opened = await Self.run(words, #"{"sessionToken":"SESSION-1","heartbeat":30}"#)
        #expect(opened.status == .yes)
        #expect(opened.json["periodSeconds"] as? Double == 30)
        #expect(!opened.output.contains("SESSION-1"))
        let full = await Self.run(words + ["--status", "403"], #"{"errorCode":1007,"message":"Too many."}"#)
        #expect(full.errorCode == "concurrencyLimit")
        let ended = await Self.run(["--vendor", "nagra", "--stage", "teardown"], "")
        #expect(ended.status == .yes)
        #expect(ended.output == "Accepted.\n")
    }

    @Test(arguments: [
        (["--vendor", "vudrm", "--stage", "setup"], "noSessions"),
        (["--vendor", "vudrm", "--stage", "entitlement"], "noLookup"),
    ])
    func `a stage that the vendor lacks is a typed error`(words: [String], code: String) async {
        let run = await Self.run(words + ["--json"], Self.ckc)
        #expect(run.status == .no)
        #expect(run.errorCode == code)
    }

    @Test(arguments: [
        ["--vendor", "vudrm", "--status", "99"], ["--vendor", "vudrm", "--status", "ok"],
        ["--vendor", "vudrm", "--header", "no colon"], ["--vendor", "vudrm", "--header", ": x"], [],
    ])
    func `a malformed value is wrong usage`(words: [String]) async {
        #expect(await Self.run(words, Self.ckc).status == .usage)
    }

    @Test func `the CKC goes only to standard output`() async {
        let run = await Self.run(["--vendor", "vudrm", "--out", "-"], Self.ckc)
        #expect(run.status == .yes)
        #expect(run.output == String(decoding: Self.ckc, as: UTF8.self))
    }
}
