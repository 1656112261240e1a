import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct ToolTests {
    @Test func `the demo of all prints a line per profile and a sum, and shows no secret`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run("demo", "--all", "--out", folder.path("demo"))
        #expect(run.status == 0, "\(run)")
        #expect(run.error == "")
        let count = StreamTests.emulated.count
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == count + 1)
        #expect(lines.last == "\(count) of \(count) right")
        #expect(count == VendorProfile.all.count)
        #expect(lines.dropLast().allSatisfy { $0.contains("150 frames decoded") && !$0.contains("WRONG") })
        for name in StreamTests.emulated {
            let picture = try Data(contentsOf: folder.file("demo/\(name).png"))
            #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        }
        let log = try String(contentsOf: folder.file("demo/exchanges.log"), encoding: .utf8)
        #expect(log.contains("/vudrm/license/video → 200"))
        let shown = run.output + log
        // The beginnings of VuDRM's tokens, and of JSON in base64, which all tokens except ExpressPlay's have.
        #expect(!shown.contains("demo-client|") && !shown.contains("eyJ"))
        #expect(!shown.contains(/ExpressPlayToken=[A-Za-z0-9_-]{20}/))
        for key in try LiveServices.demoKeys().keys {
            #expect(SecretForms(key.content.key.revealed).found(in: shown).isEmpty)
        }
    }

    @Test func `a quiet demo prints the sum alone`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run("demo", "--quiet", "--out", folder.path("demo"))
        #expect(run.status == 0 && run.error == "", "\(run)")
        #expect(run.output.wholeMatch(of: /(\d+) of \1 right\n/) != nil, "\(run.output)")
    }

    @Test func `serve and play work together as processes, and serve ends cleanly`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await ToolProcess.run("credentials", "--out", folder.path("c")).status == 0)
        let serve = try await ServeProcess("--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        // The reader of its output exits, like `head`.
        serve.process.stopReading()
        for (vendor, service) in [("vudrm-raw", "vudrm"), ("cloud-drm", "cloud-drm")] {
            let run = try await ToolProcess.run(
                ["play", "\(serve.address)/media/\(service)/ts/master.m3u8", "--vendor", vendor]
                    + serve.settings(of: service)
                    + [
                        "--credentials", folder.path("c"), "--loopback-http", "--json", "--hashes",
                        DemoAsset.folder.appending(path: "hashes.json").path,
                    ])
            #expect(run.status == 0, "\(run)")
            #expect(run.error == "")
            #expect(run.json?["right"] as? Bool == true)
            #expect(run.json?["frames"] as? Int == 150)
        }
        #expect(await serve.end(by: SIGINT) == 128 + SIGINT)
        #expect(serve.process.log.hasSuffix("Stopping\n"))
        #expect(serve.process.log.contains("POST /vudrm/license/video → 200"))
    }

    @Test func `a second serve reports that its port is in use`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let first = try await ServeProcess("--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        let port = try #require(first.address.split(separator: ":").last)
        let second = try await ToolProcess.run(
            "serve", "--credentials", folder.path("c"), "--content", DemoAsset.folder.path, "--port", "\(port)")
        #expect(second.status == 1)
        #expect(second.output == "")
        #expect(second.messageCode == "httpListen")
        #expect(second.error.contains("Choose a free port"))
        #expect(await first.end(by: SIGTERM) == 128 + SIGTERM)
    }

    @Test func `serve without keys names the file and the option`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let run = try await ToolProcess.run("serve", "--credentials", folder.path("c"), "--content", folder.url.path)
        #expect(run.status == 1)
        #expect(run.messageCode == "cannotRead")
        #expect(run.error.contains("\(folder.path("keys.json")) cannot be read"))
        #expect(run.error.contains("--keys"))
    }

    @Test(arguments: [("private-key.pem", "privateKeyUnreadable"), ("ask.hex", "applicationSecretUnreadable")])
    func `serve names the fault of a credentials folder`(_ file: String, _ code: String) async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        try folder.write("nonsense", to: "c/\(file)")
        let run = try await ToolProcess.run(
            "serve", "--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        #expect(run.status == 1)
        #expect(run.messageCode == code)
        #expect(!run.error.contains("nonsense"))
    }

    @Test(arguments: [["demo", "--out", "DIR/demo"], ["play", "DIR/x.m3u8", "--credentials", "DIR/c"]])
    func `without ffmpeg the error says what to install`(_ words: [String]) async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let vendor = ["--vendor", "vudrm", "--set", "certificateURL=http://127.0.0.1:9/c", "--set", "token=t"]
        let arguments = words.map { $0.replacing("DIR", with: folder.url.path) } + (words[0] == "play" ? vendor : [])
        let run = try await ToolProcess.run(arguments, environment: ["PATH": ""])
        #expect(run.status == 1)
        #expect(run.messageCode == "toolMissing")
        #expect(run.error.contains("apt-get install"))
        #expect(run.output == "")
    }

    @Test(arguments: [
        [], ["pley"], ["play"], ["serve", "--credentials"], ["demo", "extra"], ["serve", "--port", "99999"],
    ])
    func `wrong usage is status 2 and leaves standard output empty`(_ arguments: [String]) async throws {
        let run = try await ToolProcess.run(arguments)
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.error.contains("latchkey"))
    }

    @Test func `a demo that cannot write says where`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("in the way", to: "file")
        let run = try await ToolProcess.run("demo", "--out", "\(file)/demo")
        #expect(run.status == 1)
        #expect(run.messageCode == "cannotWrite")
        #expect(run.error.contains("file/demo cannot be written"))
    }

    @Test func `a reader that closes early is not a failure`() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let process = ToolProcess.make(["--help"])
        process.standardOutput = pipe
        #expect(try await ToolProcess.status(of: process) == 0)
        #expect(process.terminationReason == .exit)
    }
}
