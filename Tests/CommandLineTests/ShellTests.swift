import Foundation
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct ShellTests {
    private let folder: TemporaryFolder
    private static let verbs = CommandLineTool.standard.verbs.map(\.usage)

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: CompletionShell.allCases)
    func `a shell's completions know every verb and every option`(_ shell: CompletionShell) async {
        let script = await RecordedRun("completions", shell.rawValue).output
        for usage in Self.verbs {
            #expect(usage.words.allSatisfy { script.contains($0) }, "\(usage.name)")
            let names = usage.allOptions.map { shell == .fish ? "-l \($0.name.dropFirst(2))" : $0.name }
            #expect(names.filter { !script.contains($0) } == [], "\(usage.name)")
        }
    }

    @Test func `an unknown shell is refused with the known ones`() async {
        let run = await RecordedRun("completions", "tcsh")
        #expect(run.status == .usage && run.error.contains("bash, zsh, fish"))
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")),
        arguments: [
            (["pl"], "play"), (["vendors", "sh"], "show"), (["play", "--ven"], "--vendor"),
            (["play", "--vendor", "vudrm-r"], "vudrm-raw"), (["play", "x", "--json", "--fra"], "--frame"),
            (["inspect", "cert"], "certificate"), (["wire", "request", "--st"], "--stage"),
            (["wire", "req"], "request"),
            (["completions", "z"], "zsh"),
            (["inspect", "spc", "--purpose", "pers"], "persistable"), (["help", "dem"], "demo"),
        ])
    func `bash proposes what fits`(_ words: [String], _ proposal: String) async throws {
        let script = await RecordedRun("completions", "bash").output
        try Data(script.utf8).write(to: folder.file("latchkey.bash"))
        let line = (["latchkey"] + words).map { "'\($0)'" }.joined(separator: " ")
        let output = try Self.run(
            "/bin/bash",
            [
                "--norc", "-c",
                "source '\(folder.path("latchkey.bash"))'; COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); "
                    + "_latchkey; printf '%s\\n' \"${COMPREPLY[@]}\"",
            ])
        #expect(output.split(separator: "\n").map(String.init) == [proposal])
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish"), "fish is not there"),
        arguments: [
            ("pl", "play"), ("vendors sh", "show"), ("play --ven", "--vendor"), ("play --vendor vudrm-r", "vudrm-raw"),
            ("wire req", "request"), ("wire request --st", "--stage"), ("completions z", "zsh"),
        ])
    func `fish proposes what fits`(_ words: String, _ proposal: String) async throws {
        let script = await RecordedRun("completions", "fish").output
        try Data(script.utf8).write(to: folder.file("latchkey.fish"))
        let output = try Self.run(
            "/usr/bin/fish",
            [
                "--no-config", "-c",
                "source '\(folder.path("latchkey.fish"))'; complete --do-complete 'latchkey \(words)'",
            ])
        #expect(output.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == [Substring(proposal)])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh"), "zsh is not there"))
    func `zsh reads the completions`() async throws {
        try Data(await RecordedRun("completions", "zsh").output.utf8).write(to: folder.file("_latchkey"))
        #expect(try Self.run("/usr/bin/zsh", ["-n", folder.path("_latchkey")]) == "")
    }

    @Test func `the manual page has every verb and every option`() async {
        let page = await RecordedRun("help", "--man").output
        #expect(page.hasPrefix(".TH LATCHKEY 1"))
        for usage in Self.verbs {
            #expect(page.contains(".SS latchkey \(usage.name.replacing("-", with: "\\-"))"))
            let options = usage.options.map { $0.name.replacing("-", with: "\\-") }
            #expect(options.filter { !page.contains($0) } == [])
        }
        #expect(page.contains("LATCHKEY_TOKEN"))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
    func `the manual page is valid roff`() async throws {
        try Data(await RecordedRun("help", "--man").output.utf8).write(to: folder.file("latchkey.1"))
        let said = try Self.run(
            "/bin/sh", ["-c", "groff -man -Tutf8 -ww -z '\(folder.path("latchkey.1"))' 2>&1"])
        #expect(said == "")
    }

    /// A program's output.
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Subprocess()
        let output = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
