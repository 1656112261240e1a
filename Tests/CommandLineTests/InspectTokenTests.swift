import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `inspect token`. The signatures and hashes are made up: they are not checked.
@Suite(.timeLimit(.minutes(5))) struct InspectTokenTests {
    private static let keyID = "7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52"
    private static let hash = String(repeating: "ab", count: 20)

    private func inspect(_ token: String, _ words: String...) async -> RecordedRun {
        await RecordedRun(["inspect", "token", "-", "--json"] + words, tool: .standard, input: Data(token.utf8))
    }

    private func advice(_ run: RecordedRun) -> [String] {
        (run.json["advice"] as? [[String: String]] ?? []).compactMap { $0["code"] }
    }

    /// A JSON Web Token with claims.
    private static func jwt(_ claims: String) -> String {
        let part = { (text: String) in Data(text.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "") }
        return "\(part(#"{"alg":"HS256"}"#)).\(part(claims)).c2lnbmF0dXJl"
    }

    @Test func `a good token's facts are shown, the token never`() async {
        let token = Self.jwt(#"{"exp":4102444800,"kid":["\#(Self.keyID)"],"persistent":true}"#)
        let run = await inspect(token + "\n", "--key-id", Self.keyID, "--purpose", "persistable")
        #expect(run.status == .yes)
        #expect(run.json["kind"] as? String == "token")
        #expect(run.json["format"] as? String == "jwt")
        let facts = run.json["facts"] as? [String: String]
        #expect(facts?["algorithm"] == "HS256")
        #expect(facts?["expires"] == "2100-01-01T00:00:00Z")
        #expect(advice(run) == [])
        let text = await RecordedRun(["inspect", "token", "-"], tool: .standard, input: Data(token.utf8))
        #expect(text.output.contains("\nexpires        2100-01-01T00:00:00Z\n"))
        for part in token.split(separator: ".") { #expect(!(run.output + text.output).contains(part)) }
    }

    @Test(arguments: [
        (#"{"exp":1000000000}"#, "expired"), (#"{"nbf":4102444800}"#, "notYetValid"),
        (#"{"kid":["00000000-0000-0000-0000-000000000000"]}"#, "keyNotCovered"),
        (#"{"persistent":false}"#, "noOfflineRight"),
    ])
    func `a token that would be refused answers no`(claims: String, code: String) async {
        let run = await inspect(Self.jwt(claims), "--key-id", Self.keyID, "--purpose", "persistable")
        #expect(run.status == .no)
        #expect(advice(run) == [code])
        #expect(run.errorCode == code)
        #expect((run.json["error"] as? [String: String])?["remedy"]?.hasSuffix(".") == true)
    }

    @Test(arguments: [#"{"kid":["00000000-0000-0000-0000-000000000000"]}"#, #"{"persistent":false}"#])
    func `claims are judged only on request`(claims: String) async {
        #expect(await inspect(Self.jwt(claims)).status == .yes)
    }

    @Test(arguments: [("client|2020-01-01T00:00:00Z|policy|nonsense", 2), ("|x|policy|\(hash)", 1)])
    func `a malformed token answers no`(token: String, count: Int) async {
        let run = await inspect(token)
        #expect(run.status == .no)
        #expect(run.json["format"] as? String == "vuDRM")
        #expect(advice(run).count == count)
        #expect(run.errorCode == "malformed")
    }

    @Test func `a token that may have expired is a warning`() async {
        let token = "client|2020-01-01T00:00:00Z|policy|\(Self.hash)\r\n"
        let run = await inspect(token)
        #expect(run.status == .yes)
        #expect(advice(run) == ["mayHaveExpired"])
        #expect(run.json["error"] == nil)
        #expect(!run.output.contains(Self.hash))
        let text = await RecordedRun(["inspect", "token", "-"], tool: .standard, input: Data(token.utf8))
        #expect(text.output.contains("\nWarning: The token was generated at 2020-01-01T00:00:00Z"))
        #expect(text.output.hasSuffix("(mayHaveExpired)\n"))
    }

    @Test func `an opaque token shows nothing, and an empty one is malformed`() async {
        let opaque = await inspect("hunter2hunter2")
        #expect(opaque.status == .yes)
        #expect(opaque.json["format"] as? String == "opaque")
        #expect(!opaque.output.contains("hunter2"))
        let empty = await inspect("\n")
        #expect(empty.status == .no)
        #expect(empty.errorCode == "malformed")
    }

    @Test func `a token is read from a file, whatever its bytes`() async throws {
        let folder = try TemporaryFolder()
        try Data([0xff, 0x00, 0x0a]).write(to: folder.file("token"))
        let run = await RecordedRun("inspect", "token", folder.path("token"))
        #expect(run.status == .yes)
        #expect(run.output == "Token  opaque: only its service can read it\n")
    }

    @Test(arguments: [["--key-id", "7eaf"], ["--purpose", "renewal"]])
    func `a useless option is wrong usage`(words: [String]) async {
        let run = await RecordedRun(["inspect", "token", "-"] + words, tool: .standard)
        #expect(run.status == .usage)
    }
}
