import Foundation
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey demo`: plays protected streams through the vendors' profiles and services, with pictures as proof.
struct DemoVerb: Verb {
    private let all = Flag("all", "play every profile, the variants too")
    private let out = Option(
        "out", .path("DIR"), "the folder for the page, the pictures and the log; defaults to out/demo")
    private let quiet = Flag("quiet", "print only problems and the summary")

    var usage: Usage {
        Usage(
            name: "demo", summary: "play a protected stream through every vendor's service, over HTTP",
            details: """
                Makes test credentials and starts the emulated license services on a free loopback port. A simulated player plays an
                encrypted stream through one profile for each vendor's service: a simulated device makes the SPCs and opens the CKCs,
                ffmpeg decodes, and every sample is compared with the clear stream. latchkey-demo, which make demo runs, does the
                same with five applications and stand-ins for their players.
                """,
            options: [all, out, TraceRecorder.option, quiet],
            examples: ["latchkey demo", "latchkey demo --all --out /tmp/demo"],
            yes: "every frame is right", no: "a key is missing or a frame is wrong; the log says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let folder = URL(filePath: arguments[out] ?? "out/demo", relativeTo: nil)
        try OutputFile.makeFolder(folder)
        let recorder = try arguments.traceRecorder()
        let stage = try DemoStage(output: folder)
        let (right, rows) = try await play(arguments, on: stage, recorder, console)
        console.print("\(right) of \(rows) right")
        let log = await stage.close()
        try OutputFile.write(log, to: folder.appending(path: "exchanges.log").path, for: .everyone, console)
        try recorder.write(console)
        return right == rows ? .yes : .no
    }

    private func play(
        _ arguments: Arguments, on stage: DemoStage, _ recorder: TraceRecorder, _ console: Console
    ) async throws -> (right: Int, rows: Int) {
        let demonstration = Demonstration(on: stage, recorder)
        let profiles = arguments[all] ? VendorProfile.all : demonstration.profiles
        let width = profiles.map(\.name.count).max() ?? 0
        var right = 0
        var page = DemoPage()
        for (index, profile) in profiles.enumerated() {
            console.progress("Playing \(profile.name)")
            let row = await demonstration.play(profile, Demonstration.asset(for: profile, row: index))
            console.endProgress()
            if !arguments[quiet] || !row.isRight { console.print(row.text(nameWidth: width)) }
            right += row.isRight ? 1 : 0
            page.add(row.forPage)
        }
        try OutputFile.write(page.data, to: stage.page.path, for: .everyone, console)
        return (right, profiles.count)
    }
}
