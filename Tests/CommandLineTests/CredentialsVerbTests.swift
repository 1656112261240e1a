import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct CredentialsVerbTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [([], 1024), (["--bits", "1024"], 1024), (["--bits", "2048"], 2048)] as [([String], Int)])
    func `three files are written, two readable only by their owner`(words: [String], bits: Int) async {
        let run = await RecordedRun(["credentials", "--out", folder.path("c"), "--json"] + words, tool: .standard)
        #expect(run.status == .yes)
        #expect(run.json["bits"] as? Int == bits)
        #expect((run.json["files"] as? [String])?.count == 3)
        #expect(folder.names == ["c"])
        #expect(folder.mode("c/private-key.pem") == 0o600)
        #expect(folder.mode("c/ask.hex") == 0o600)
        #expect(folder.contents("c/certificate.der")?.first == 0x30)
        #expect(folder.contents("c/ask.hex")?.count == 33)
    }

    @Test func `only force replaces existing files`() async throws {
        _ = await RecordedRun("credentials", "--out", folder.url.path)
        let before = try #require(folder.contents("ask.hex"))
        let refused = await RecordedRun("credentials", "--out", folder.url.path, "--json")
        #expect(refused.status == .no)
        #expect(refused.errorCode == "fileExists")
        #expect(folder.contents("ask.hex") == before)
        let forced = await RecordedRun("credentials", "--out", folder.url.path, "--force")
        #expect(forced.status == .yes)
        #expect(folder.contents("ask.hex") != before)
        #expect(folder.names == ["ask.hex", "certificate.der", "private-key.pem"])
    }

    @Test(arguments: ["ask.hex", "private-key.pem"])
    func `a single file is not overwritten either`(name: String) async throws {
        try Data("mine".utf8).write(to: folder.file(name))
        let run = await RecordedRun("credentials", "--out", folder.url.path)
        #expect(run.status == .no)
        #expect(run.error.contains(name))
        #expect(folder.names == [name])
        #expect(folder.contents(name) == Data("mine".utf8))
    }

    @Test func `an impossible folder makes the answer no`() async {
        let run = await RecordedRun("credentials", "--out", "/dev/null/credentials", "--json")
        #expect(run.status == .no)
        #expect(run.errorCode != nil)
    }

    @Test func `no secret is printed`() async throws {
        let run = await RecordedRun("credentials", "--out", folder.url.path)
        let ask = try #require(folder.contents("ask.hex").map { String(decoding: $0.prefix(32), as: UTF8.self) })
        #expect(!(run.output + run.error).contains(ask))
    }
}
