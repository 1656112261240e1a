import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

/// `latchkey demo`: protected streams through players and vendors, and the pictures to prove it.
struct DemoVerb: Verb {
    private let vendors = Flag("vendors", "play one profile for each vendor, with a simulated player")
    private let all = Flag("all", "play every profile, the variants too, with a simulated player")
    private let out = Option("out", .path("DIR"), "where to leave the pictures and the log; out/demo unless given")

    var usage: Usage {
        Usage(
            name: "demo", summary: "play protected streams through players and vendors' services, over HTTP",
            details: """
                Makes test credentials and starts the emulated license services on a free loopback port. Five applications, those of
                Examples, each play an encrypted stream: their players are stand-ins for the SDKs, behind which a simulated device
                makes the SPCs and opens the CKCs, and ffmpeg decodes. Every sample is compared with the clear stream.
                With --vendors, or --all, a simulated player does the same with the vendors' profiles.
                """,
            options: [vendors, all, out],
            examples: ["latchkey demo", "latchkey demo --vendors", "latchkey demo --all --out /tmp/demo"],
            yes: "every frame is right", no: "a key is missing or a frame is wrong; the log says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let folder = URL(filePath: arguments[out] ?? "out/demo", relativeTo: nil)
        let log = Locked<[String]>([])
        let stage = try DemoStage(output: folder) { line in log.withLock { $0.append(line) } }
        let (right, rows) = await play(arguments, on: stage, console)
        console.print("\(right) of \(rows) right")
        await stage.bench.host.stop(within: .seconds(2))
        let file = folder.appending(path: "exchanges.log")
        let lines = log.withLock { $0 }.joined(separator: "\n") + "\n"
        try OutputFile.write(Data(lines.utf8), to: file.path, for: .everyone, console)
        return right == rows ? .yes : .no
    }

    private func play(
        _ arguments: Arguments, on stage: DemoStage, _ console: Console
    ) async -> (right: Int, rows: Int) {
        #if os(Linux)
            if !arguments[vendors], !arguments[all] { return await playPlayers(on: stage, console) }
        #endif
        return await playProfiles(arguments, on: stage, console)
    }

    #if os(Linux)
        private func playPlayers(on stage: DemoStage, _ console: Console) async -> (right: Int, rows: Int) {
            let demonstration = await PlayerDemonstration(on: stage)
            let rows = await PlayerDemonstration.rows
            var right = 0
            for row in rows {
                console.progress("Playing \(row.vendor) with \(row.player)")
                let (text, isRight) = await demonstration.play(row)
                console.endProgress()
                console.print(text)
                right += isRight ? 1 : 0
            }
            return (right, rows.count)
        }
    #endif

    private func playProfiles(
        _ arguments: Arguments, on stage: DemoStage, _ console: Console
    ) async -> (right: Int, rows: Int) {
        let demonstration = Demonstration(on: stage)
        let profiles = arguments[all] ? VendorProfile.all : demonstration.profiles
        let width = profiles.map(\.name.count).max() ?? 0
        var right = 0
        for (index, profile) in profiles.enumerated() {
            console.progress("Playing \(profile.name)")
            let row = await demonstration.play(profile, Demonstration.asset(for: profile, row: index))
            console.endProgress()
            console.print(row.text(nameWidth: width))
            right += row.isRight ? 1 : 0
        }
        return (right, profiles.count)
    }
}
