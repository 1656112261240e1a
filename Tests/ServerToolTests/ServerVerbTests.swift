import Foundation
import LatchkeyFairPlay
import LatchkeyStores
import LatchkeySystem
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensees
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

@Suite(.timeLimit(.minutes(2)))
struct ServerVerbTests {
    private typealias Run = ToolRun

    @Test func `the help lists the verbs, and each verb has help`() async {
        let help = await Run("--help")
        #expect(help.status == .yes)
        for verb in CommandLineTool.licenseServer.verbs {
            #expect(help.output.contains(verb.usage.summary))
            let run = await Run(verb.usage.name, "--help")
            #expect(run.output.contains("Usage: latchkey-server"))
        }
        #expect(await Run("serve").status == .usage)
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")),
        arguments: [(["mig"], "migrate"), (["run", "--con"], "--config"), (["audit", "ver"], "verify")])
    func `bash completes server verbs and options`(_ words: [String], _ proposal: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(await Run("completions", "bash").output, to: "completions")
        let line = (["latchkey-server"] + words).map { "'\($0)'" }.joined(separator: " ")
        let (process, output) = (Subprocess(), Pipe())
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = [
            "--norc", "-c",
            "source '\(file)'; COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); _latchkey_server; "
                + "printf '%s\\n' \"${COMPREPLY[@]}\"",
        ]
        process.standardOutput = output
        try process.run()
        let proposed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(proposed == proposal + "\n")
    }

    @Test func `the manual page has every verb and option`() async {
        let page = await Run("help", "--man").output
        #expect(page.hasPrefix(".TH LATCHKEY-SERVER 1"))
        for usage in CommandLineTool.licenseServer.verbs.map(\.usage) {
            #expect(page.contains(".SS \(usage.command.replacing("-", with: "\\-"))"))
            let options = usage.options.map { $0.name.replacing("-", with: "\\-") }
            #expect(options.filter { !page.contains($0) } == [])
        }
    }

    @Test func `the check names a store once and numbers each problem on one line`() async throws {
        let folder = try ServerFolder()
        try folder.write(secret: "no database, but long enough", to: "latchkey.db")
        let one = await Run("run", "--check", "--config", folder.configuration)
        #expect(one.error.contains("stores.sessions: ") && !one.error.contains("stores.keys: "))
        try folder.edit(["stores.keys": "sqlite:/nowhere/keys.db"])
        let two = await Run("run", "--check", "--config", folder.configuration)
        #expect(two.error.contains("(1) stores.sessions: ") && two.error.contains("\n(2) stores.keys: "))
        #expect(!two.error.contains("\u{fffd}"))
    }

    @Test func `a valid configuration passes the check`() async throws {
        let folder = try ServerFolder()
        try await folder.makeTenants()
        let run = await Run("run", "--check", "--config", folder.configuration)
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.output.contains("1 tenant, 1 policy, 1 certificate, no record of licenses."))
        #expect(run.error.contains("only serves test credentials"))
    }

    @Test func `the command line's derivation overrides the configuration's, from the working directory`()
        async throws
    {
        let folder = try ServerFolder()
        let run = await Run("run", "--check", "--config", folder.configuration, "--derivation", "nowhere/libtest.so")
        #expect(run.status == .no)
        let library = URL(filePath: "nowhere/libtest.so").absoluteURL.path
        #expect(run.error.contains("licensee.derivation") && run.error.contains(library), "\(run.error)")
        let file = try ConfigurationFile(folder.configuration, derivation: "nowhere/libtest.so")
        #expect(try file.readAgain().licensee.derivation == library)
        #expect(try ConfigurationFile(folder.configuration).licensee.derivation == nil)
    }

    @Test func `a demo whose derivation is missing says so and serves nothing`() async throws {
        let folder = try TemporaryFolder()
        let run = await Run(
            "demo", "--folder", folder.path("demo"), "--port", "0", "--derivation", "nowhere/libtest.so")
        #expect(run.status == .no)
        #expect(run.error.contains(URL(filePath: "nowhere/libtest.so").absoluteURL.path), "\(run.error)")
        #expect(run.output == "")
    }

    @Test(arguments: [("credentials", "node-secret.hex"), ("other", "credentials/private-key.pem")])
    func `a key recipient has a certificate and its private key`(
        _ certificate: String, _ key: String
    ) async throws {
        let folder = try ServerFolder()
        try TestCredentials.make(bits: 2_048).write(to: folder.file("other"))
        try folder.edit([
            "tenants.demo.importRecipients": [["certificate": "\(certificate)/certificate.der", "key": .text(key)]]
        ])
        let run = await Run("run", "--check", "--config", folder.configuration)
        #expect(run.status == .no)
        #expect(run.error.contains("tenants.demo.importRecipients[0]"), "\(run.error)")
    }

    @Test func `a recipient's certificate may be PEM`() async throws {
        let folder = try ServerFolder()
        let der = try Data(contentsOf: URL(filePath: folder.credentials + "/certificate.der"))
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8)
            .write(to: folder.file("recipient.crt"))
        try folder.edit([
            "tenants.demo.importRecipients": [["certificate": "recipient.crt", "key": "credentials/private-key.pem"]]
        ])
        try await folder.makeTenants()
        let run = await Run("run", "--check", "--config", folder.configuration)
        #expect(run.status == .yes, "\(run.error)")
    }

    @Test func `the check reports every problem with its place`() async throws {
        let folder = try ServerFolder()
        try folder.edit([
            "tenants.demo.policy": "none", "tenants.demo.tokens.keys": "missing.json",
            "licensee.credentials.0.folder": "nowhere",
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file("kek.hex").path)
        let run = await Run("run", "--check", "--config", folder.configuration)
        #expect(run.status == .no)
        for place in ["licensee.credentials[0]", "keyEncryptionKey"] {
            #expect(run.error.contains(place), "\(place) is missing in \(run.error)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("kek.hex").path)
        let more = await Run("run", "--check", "--config", folder.configuration)
        for place in ["licensee.credentials[0]", "tenants.demo.policy", "tenants.demo.tokens.keys"] {
            #expect(more.error.contains(place), "\(place) is missing in \(more.error)")
        }
    }

    @Test func `a migration needs a database and reports an invalid address`() async throws {
        let folder = try ServerFolder()
        let none = await Run("migrate", "--config", folder.configuration)
        #expect(none.status == .yes)
        #expect(none.output == "No store of this configuration needs tables.\n")
        try folder.edit(["stores.keys": "postgresql://anna:hunter2@127.0.0.1:1/x"])
        let open = await Run("migrate", "--config", folder.configuration)
        #expect(open.status == .no && open.error.contains("passwordOpenToOthers") && !open.error.contains("hunter2"))
        try #require(chmod(folder.configuration, 0o600) == 0)
        let run = await Run("migrate", "--config", folder.configuration)
        #expect(run.status == .no)
        #expect(run.error.contains("storeUnavailable"))
        #expect(!run.error.contains("hunter2"))
    }

    @Test func `a demo token names its viewer`() async throws {
        let folder = try ServerFolder()
        let run = await Run("token", "--folder", folder.url.path, "--viewer", "berta")
        #expect(run.status == .yes)
        let parts = run.output.split(separator: ".")
        #expect(parts.count == 3)
        let payload = try #require(Base64URL.bytes(of: parts[1].utf8))
        #expect(JSONValue(payload)?["sub"]?.text == "berta")
    }

    @Test func `a folder without a demo is named`() async throws {
        let root = try TemporaryFolder()
        let run = await Run("token", "--folder", root.path("none"))
        #expect(run.status == .no)
        #expect(run.error.contains("none/token-key.hex cannot be read"))
    }

    @Test func `decide prints a policy's decision and why`() async throws {
        let folder = try ServerFolder()
        let policy = folder.file("policies/demo.json").path
        let facts = try folder.root.write(
            #"{"now":"2026-11-22T15:00:00Z","grant":{"account":"anna","session":"one"},"key":{"content":"movie"}}"#,
            to: "facts.json")
        let yes = await Run("decide", "--policy", policy, "--facts", facts)
        #expect(yes.status == .yes, "\(yes.error)")
        #expect(yes.output.hasPrefix("license, by the policy “demo”"))
        let anonymous = try folder.root.write(
            #"{"now":"2026-11-22T15:00:00Z","grant":{"account":"anna"}}"#, to: "none.json")
        let no = await Run("decide", "--policy", policy, "--facts", anonymous)
        #expect(no.status == .no)
        #expect(no.output.contains("sessionMissing"))
        let wrong = await Run("decide", "--policy", folder.file("policies/absent.json").path, "--facts", facts)
        #expect(wrong.status == .no)
        #expect(wrong.error.contains("absent.json"))
    }

    @Test func `the audit is verified, and one changed byte is found`() async throws {
        let stage = try await TestServer()
        for number in 1...3 {
            _ = try await stage.server.shared.audit.append(
                AuditEvent(.keyDisabled, of: "demo/\(number)", by: "admin:ops"))
        }
        await stage.stop()
        let whole = await Run("audit", "verify", "--config", stage.folder.configuration)
        #expect(whole.status == .yes, "\(whole.error)")
        #expect(whole.output.contains("intact up to entry 4"))
        // The anchor that a cron job keeps elsewhere.
        let anchor = try #require(whole.output.firstMatch(of: /Anchor: (4:[0-9a-f]{64})\n/)).1
        #expect(whole.error.contains("--at-least"))
        let again = await Run(
            "audit", "verify", "--config", stage.folder.configuration, "--at-least", String(anchor), "--json")
        #expect(again.status == .yes, "\(again.error)")
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any])
        #expect(json["anchor"] as? String == String(anchor))
        #expect(json["anchored"] as? Bool == true)
    }

    @Test(arguments: [1, 3])
    func `only the anchor reveals that the newest audit entries, or all, are missing`(cut: Int) async throws {
        let store = MemoryAuditStore()
        let chain = AuditChain(store)
        for number in 1...3 {
            _ = try await chain.append(AuditEvent(.keyDisabled, of: "demo/\(number)", by: "admin:ops"))
        }
        let all = try await store.entries(from: 1, limit: 10)
        #expect(all.count == 3)
        let rest = MemoryAuditStore()
        for entry in all.dropLast(cut) { #expect(try await rest.append(entry)) }
        let anchor = try #require(AuditAnchor(AuditAnchor(all.last).text))
        let left = UInt64(3 - cut)
        #expect(try await AuditChain.verify(rest) == .intact(last: all.dropLast(cut).last))
        #expect(try await AuditChain.verify(rest, knowing: anchor) == .broken(at: left + 1, .cutOff))
        #expect(try await AuditChain.verify(store, knowing: anchor) == .intact(last: all.last))
        let other = try #require(AuditAnchor("3:" + String(repeating: "ab", count: 32)))
        #expect(try await AuditChain.verify(store, knowing: other) == .broken(at: 3, .changed))
    }

    @Test(arguments: [
        "3", "3:", "3:ab", ":", "x:" + String(repeating: "ab", count: 32), "-1:" + String(repeating: "ab", count: 32),
    ])
    func `an invalid anchor is refused`(_ text: String) async {
        #expect(AuditAnchor(text) == nil)
        #expect(await Run("audit", "verify", "--config", "x", "--at-least", text).status == .usage)
    }

    @Test(arguments: [0o644, 0o640, 0o606])
    func `a password in a configuration others can read is refused; without one it passes`(mode: Int) throws {
        let folder = try ServerFolder()
        try #require(chmod(folder.configuration, mode_t(mode)) == 0)
        #expect(throws: Never.self) { try ConfigurationFile(folder.configuration) }
        let addresses = [
            "redis://:hunter2@127.0.0.1", "redis://ann:hunter2@127.0.0.1:6379/1",
            "postgresql://ann:hunter2@db/latchkey",
            "postgresql://db/latchkey?password=hunter2", "redis+sentinel://:hunter2@a:1,b:2/main",
        ]
        for address in addresses {
            try folder.edit(["stores.sessions": .text(address)])
            try #require(chmod(folder.configuration, mode_t(mode)) == 0)
            let error = #expect(throws: FileError.self) { try ConfigurationFile(folder.configuration) }
            #expect(error?.code == "passwordOpenToOthers")
            #expect(error?.reason.contains("hunter2") == false && error?.reason.contains("stores.sessions") == true)
            try #require(chmod(folder.configuration, 0o600) == 0)
            #expect(throws: Never.self) { try ConfigurationFile(folder.configuration) }
        }
        for address in ["redis://127.0.0.1", "postgresql://ann@db/latchkey?passfile=/run/p", "redis+unix:/run/a:b@c"] {
            #expect(try !StoreAddress(address).holdsPassword, "\(address)")
        }
    }
}
