import Foundation
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// The inputs that `latchkey serve` reads before it starts.
@Suite(.timeLimit(.minutes(1))) struct ServeVerbTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try TestCredentials.make(bits: 1024).write(to: folder.file("c"))
    }

    private func serve(_ words: String...) async -> RecordedRun {
        await RecordedRun(["serve", "--json", "--credentials", folder.path("c")] + words, tool: .standard)
    }

    @Test func `given credentials are used, and none are made`() async {
        let run = await serve("--content", folder.path("nothing"))
        #expect(run.status == .no && run.errorCode == "cannotRead")
        #expect(run.output.contains("keys.json") && !run.error.contains("Made test credentials"), "\(run.error)")
    }

    @Test func `the keys come from the named file`() async {
        let run = await serve("--content", folder.path("nothing"), "--keys", folder.path("mine.json"))
        #expect(run.status == .no && run.output.contains("mine.json"), "\(run.output)")
    }

    @Test func `TLS certificate and private key are read first`() async {
        let run = await serve("--content", folder.path("nothing"), "--tls", folder.path("a.pem"), folder.path("b.pem"))
        #expect(run.status == .no && run.output.contains("a.pem"), "\(run.output)")
    }
}
