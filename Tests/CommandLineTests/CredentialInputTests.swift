import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey
@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Ways to give a token other than on the command line.
@Suite(.timeLimit(.minutes(5))) struct CredentialInputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func set(_ words: String..., input: String = "") async -> RecordedRun {
        await RecordedRun(
            ["sample", "p", "--out", "o"] + words.flatMap { ["--set", $0] },
            tool: CommandLineTool.latchkey([SampleVerb()]), input: Data(input.utf8))
    }

    private func file(_ bytes: Data) throws -> String {
        try bytes.write(to: folder.file("token"))
        return folder.path("token")
    }

    @Test(arguments: ["demo|abc", "demo|abc\n", "demo|abc\r\n"])
    func `a value comes from a file, without its trailing line end`(_ content: String) async throws {
        let run = await set("token=@\(try file(Data(content.utf8)))")
        #expect(run.json["set"] as? String == "token→demo|abc")
    }

    @Test func `a value comes from standard input, once`() async {
        #expect(await set("token=@-", input: "secret\n").json["set"] as? String == "token→secret")
        let twice = await set("token=@-", "other=@-", input: "secret")
        #expect(twice.status == .usage && twice.error.contains("once"))
    }

    @Test func `two at signs begin a value with one`() async {
        #expect(await set("name=@@home", "at=a@b").json["set"] as? String == "name→@home,at→a@b")
    }

    @Test func `a missing or non-text file is named without showing its content`() async throws {
        let missing = await set("token=@\(folder.path("nowhere"))")
        #expect(missing.status == .no && missing.error.contains("nowhere") && missing.error.contains("(cannotRead)"))
        let binary = await set("token=@\(try file(Data([0xff, 0xfe, 0x41])))")
        #expect(binary.status == .no && binary.error.contains("(notText)"))
        #expect(await set("token=@").status == .usage)
    }

    @Test(arguments: ["a\u{0}b", "a\r\nb", "a\rb", "a\u{1b}b", "a\u{7f}b"])
    func `a value with an invalid character is refused without being shown`(_ content: String)
        async throws
    {
        let run = await set("token=@\(try file(Data(content.utf8)))")
        #expect(run.status == .no && run.error.contains("(notText)") && !run.error.contains("a\u{fffd}b"))
        #expect(await set("token=@\(try file(Data("{\n\t1\n}".utf8)))").json["set"] as? String == "token→{\n\t1\n}")
    }

    @Test func `a named pipe is refused by name; a shell's pipe is read`() async throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let named = await set("token=@\(path)")
        #expect(named.status == .no && named.error.contains(path) && named.error.contains("(notPlainFile)"))
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("piped\n".utf8))
        try pipe.fileHandleForWriting.close()
        let number = pipe.fileHandleForReading.fileDescriptor
        #expect(await set("token=@/dev/fd/\(number)").json["set"] as? String == "token→piped")
    }

    @Test func `verbs read a shell's pipe in place of a file`() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        let inputs: [(words: [String], text: String)] = [
            (["keys"], playlist), (["explain"], "error -42656"), (["vendors", "check"], "{}"),
            (["inspect"], "-----BEGIN CERTIFICATE-----"),
            (["vendors", "identify"], "skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585"),
        ]
        var read = 0
        for input in inputs {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data(input.text.utf8))
            try pipe.fileHandleForWriting.close()
            let run = await RecordedRun(
                input.words + ["/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"], tool: .standard)
            #expect(
                !run.error.contains("cannotRead") && !run.error.contains("notPlainFile"), "\(input.words): \(run.error)"
            )
            if !(run.output + run.error).isEmpty { read += 1 }
            withExtendedLifetime(pipe) {}
        }
        #expect(read == inputs.count)
    }

    @Test func `a header that begins with an at sign stays as it is`() async throws {
        let body = try file(Data("x".utf8))
        let run = await RecordedRun("wire", "response", "--vendor", "vudrm", "--header", "x: @-", "--body", body)
        #expect(!run.error.contains("standard input"))
    }

    @Test(arguments: [("token", "LATCHKEY_TOKEN"), ("sessionToken", "LATCHKEY_SESSION_TOKEN"), ("a-b", "LATCHKEY_A_B")])
    func `each credential has a variable`(_ name: String, _ variable: String) {
        #expect(VendorOptions.variable(for: name) == variable)
    }

    private static let console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in Data()
    }

    @Test func `credentials come from the environment, settings do not`() throws {
        let options = VendorOptions { ["LATCHKEY_TOKEN": "from outside", "LATCHKEY_LICENSE_URL": "https://other"] }
        let credentials = try options.credentialSet(Arguments(), for: .vuDRM, Self.console)
        #expect(credentials.values == ["token": Secret("from outside")])
        var given = Arguments()
        given.values["--set"] = [NamedValue(name: "token", value: "given")]
        #expect(try options.credentialSet(given, for: .vuDRM, Self.console).values == ["token": Secret("given")])
    }

    @Test func `a parameter may have the name from the vendor's sample`() throws {
        var given = Arguments()
        given.values["--set"] = [NamedValue(name: "authToken", value: "given")]
        #expect(
            try VendorOptions { [:] }.credentialSet(given, for: .titanium, Self.console).values == [
                "token": Secret("given")
            ])
        #expect(throws: UsageError.self) { try VendorOptions { [:] }.credentialSet(given, for: .vuDRM, Self.console) }
    }

    @Test func `only a user at a terminal is asked for missing values`() async throws {
        let questions = Locked<[String]>([])
        var console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in Data() }
        let options = VendorOptions { [:] }
        #expect(throws: UsageError.self) { try options.credentials(Arguments(), for: .vuDRM, console) }
        console.ask = { question in
            questions.withLock { $0.append(question) }
            return "typed"
        }
        let credentials = try options.credentials(Arguments(), for: .vuDRM, console)
        #expect(questions.withLock { $0 }.count == 1)
        #expect(questions.withLock { $0 }.first?.contains("token") == true)
        let set = try await credentials(.init(.first))
        #expect(set.values["token"] == Secret("typed"))
        console.ask = { _ in "" }
        #expect(throws: UsageError.self) { try options.credentials(Arguments(), for: .vuDRM, console) }
    }

    @Test func `a parameter without a value is named; a possible token is not`() async {
        let named = await RecordedRun("play", "p", "--vendor", "vudrm", "--set", "certificateURL")
        #expect(named.status == .usage && named.error.contains("certificateURL needs a value"))
        let token = await RecordedRun("play", "p", "--vendor", "vudrm", "--set", "hunter")
        #expect(token.status == .usage && !token.error.contains("hunter"))
    }

    @Test(arguments: ["nowhere.pem", "token"])
    func `an unusable CA file is named before anything is sent`(_ name: String) async throws {
        _ = try file(Data("no certificate".utf8))
        let run = await RecordedRun("keys", "https://127.0.0.1:1/master.m3u8", "--ca", folder.path(name))
        #expect(run.status == .no)
        #expect(run.error.contains(name == "token" ? "(noCertificate)" : "(cannotRead)"))
    }
}
