import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// How `latchkey play` handles its options before anything is decoded.
@Suite(.timeLimit(.minutes(1))) struct PlayVerbTests {
    @Test(arguments: [
        ([], "1 h", "10 min"), (["--for", "2h"], "2 h", "10 min"), (["--lease", "20m"], "1 h", "20 min"),
    ])
    func `a one-hour live stream has ten-minute leases by default`(
        _ words: [String], _ time: String, _ lease: String
    ) async {
        let run = await RecordedRun(["play", "--vendor", "vudrm", "--virtual"] + words, tool: .standard)
        #expect(run.status == .yes, "\(run.error)")
        #expect(
            run.output.hasPrefix("\(time) of a live stream, leases of \(lease), on virtual time\n"), "\(run.output)")
    }

    // The keys of the next period are asked for a little before it.
    @Test func `keys change hourly, or as often as requested`() async throws {
        for (words, keys) in [([], "4 keys"), (["--rotation", "20m"], "8 keys")] as [([String], String)] {
            let run = await RecordedRun(["play", "--vendor", "vudrm", "--virtual"] + words, tool: .standard)
            #expect(run.status == .yes, "\(run.error)")
            #expect(run.output.contains("\n\(keys), "), "\(run.output)")
        }
    }

    @Test func `an existing file is kept`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("precious", to: "clear.mp4")
        let run = await RecordedRun("play", "--vendor", "vudrm", "--out", file, "--json")
        #expect(run.status == .no && run.errorCode == "fileExists")
        #expect(folder.contents("clear.mp4").map { String(decoding: $0, as: UTF8.self) } == "precious")
    }
}
