import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

/// `latchkey demo`: every vendor's license service, one protected stream each, and the picture to prove it.
struct DemoVerb: Verb {
    private let all = Flag("all", "play every profile, the variants too, and not one for each vendor")
    private let out = Option("out", .path("DIR"), "where to leave the pictures and the log; out/demo unless given")

    var usage: Usage {
        Usage(
            name: "demo", summary: "play a protected stream through each vendor's service, over HTTP",
            details: """
                Makes test credentials, starts the emulated license services on a free loopback port, gets the keys of an encrypted
                stream through each vendor's profile, decodes it with ffmpeg, and compares every sample with the clear stream.
                The rows take turns with three streams: two keys at once, a transport stream, and a key that changes on the way.
                """,
            options: [all, out], examples: ["latchkey demo", "latchkey demo --all", "latchkey demo --out /tmp/demo"],
            yes: "every frame is right", no: "a key is missing or a frame is wrong; the log says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let folder = URL(filePath: arguments[out] ?? "out/demo", relativeTo: nil)
        let log = Locked<[String]>([])
        let demonstration = try Demonstration(output: folder) { line in log.withLock { $0.append(line) } }
        let profiles = arguments[all] ? VendorProfile.all : demonstration.profiles
        let width = profiles.map(\.name.count).max() ?? 0
        var rightCount = 0
        for (index, profile) in profiles.enumerated() {
            console.progress("Playing \(profile.name)")
            let row = await demonstration.play(profile, Demonstration.asset(for: profile, row: index))
            console.endProgress()
            console.print(row.text(nameWidth: width))
            rightCount += row.isRight ? 1 : 0
        }
        console.print("\(rightCount) of \(profiles.count) right")
        await demonstration.bench.host.stop(within: .seconds(2))
        let file = folder.appending(path: "exchanges.log")
        let lines = log.withLock { $0 }.joined(separator: "\n") + "\n"
        try OutputFile.write(Data(lines.utf8), to: file.path, for: .everyone, console)
        return rightCount == profiles.count ? .yes : .no
    }
}
