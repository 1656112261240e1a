import Foundation
import LatchkeySimulation
import LatchkeyTerminal

/// `latchkey-demo`: plays the applications of `Examples`, each in its player and with its vendor, and saves pictures as proof.
struct PlayersVerb: Verb {
    private let documents = Flag("documents", "play each application in every form that its vendor's document shows")
    private let out = Option(
        "out", .path("DIR"), "the folder for the page, the pictures and the log; defaults to out/demo")
    private let quiet = Flag("quiet", "print only problems and the summary")

    var usage: Usage {
        Usage(
            program: "latchkey-demo", summary: "play five protected streams through five players, over HTTP",
            details: """
                Makes test credentials and starts the emulated license services on a free loopback port. Five applications, each as a
                vendor's document for its player has it, play an encrypted stream: their players are stand-ins for the SDKs, behind
                which a simulated device makes the SPCs and opens the CKCs, and ffmpeg decodes. Every sample is compared with the
                clear stream. index.html shows pictures and waterfalls. Examples holds the applications. latchkey demo plays the profiles
                of all vendors.
                """,
            options: [documents, out, TraceRecorder.option, quiet],
            examples: ["latchkey-demo", "latchkey-demo --documents", "latchkey-demo --out /tmp/demo"],
            yes: "every frame is right", no: "a key is missing or a frame is wrong; the log says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let folder = URL(filePath: arguments[out] ?? "out/demo", relativeTo: nil)
        try OutputFile.makeFolder(folder)
        let recorder = try arguments.traceRecorder()
        let exchanges = ExchangeWatch()
        let stage = try DemoStage(output: folder) { exchanges.note($0) }
        let (right, rows) = try await play(arguments, on: stage, exchanges, recorder, console)
        console.print("\(right) of \(rows) right")
        let log = await stage.close()
        try OutputFile.write(log, to: folder.appending(path: "exchanges.log").path, for: .everyone, console)
        try recorder.write(console)
        return right == rows ? .yes : .no
    }

    /// Prints a line for each document; or each document's name, followed by a line for each of its forms.
    @MainActor
    private func play(
        _ arguments: Arguments, on stage: DemoStage, _ exchanges: ExchangeWatch, _ recorder: TraceRecorder,
        _ console: Console
    ) async throws -> (right: Int, rows: Int) {
        let demonstration = PlayerDemonstration(on: stage, exchanges, recorder)
        var page = DemoPage()
        let showsForms = arguments[documents]
        var (right, rows) = (0, 0)
        for document in DemoDocument.all {
            if showsForms, !arguments[quiet] { console.print("\(document.title)\n  \(document.about)") }
            let forms = showsForms ? document.forms : Array(document.forms.prefix(1))
            for form in forms {
                console.progress("Playing \(document.title)")
                let (row, text, isRight) = await demonstration.play(form, of: document)
                page.add(row)
                console.endProgress()
                let name = showsForms ? "    \(form.name)\n       " : Self.padded(document.title, to: 26)
                if !arguments[quiet] || !isRight { console.print("\(name)  \(text)") }
                (right, rows) = (right + (isRight ? 1 : 0), rows + 1)
            }
        }
        try OutputFile.write(page.data, to: stage.page.path, for: .everyone, console)
        return (right, rows)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }
}
