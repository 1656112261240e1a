import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// `latchkey-bench`: the speed of the parts, as ratios within one run.
struct BenchVerb: Verb {
    private let check = Flag("check", "exit with status 1 if an aim is missed")
    private let licenses = Flag("licenses", "measure only licenses over HTTP")
    private let server = Flag("server", "measure only licenses of the latchkey-server next to this program")
    private let allocations = Flag("allocations", "count only allocations, of a CKC and of the server's requests")
    private let recording = Flag("recording", "measure only the cost of recording for support")
    private let brief = Flag(
        "brief", "measure everything once, to check that it works; the figures mean little")
    private let html = Option(
        "html", .path("FILE"), "where to write the figures as a page of charts, with their history")
    private let history = Option(
        "history", .path("FILE"),
        "the file of all runs, one per line, with --html; defaults to \(Self.defaultHistory)")
    private let pages = Option(
        "pages", .path("FOLDER"), "the project whose pages get the figures, with commit, machine and date")
    private let counting = Flag("count-allocations", "count them in this process; bench starts itself with it")

    private static let defaultHistory = "out/bench/history.jsonl"

    var usage: Usage {
        Usage(
            program: "latchkey-bench", summary: "measure, and compare with the aims",
            details: """
                Takes some minutes. Build for release first, as make bench does. RSA is compared with the openssl on the
                search path; allocations are counted on Linux, if there is a C compiler.
                """,
            options: [
                licenses, server, allocations, recording, brief, html, history, pages, check, counting, Flag.json,
            ],
            examples: [
                "latchkey-bench", "latchkey-bench --licenses", "latchkey-bench --server", "latchkey-bench --recording",
                "latchkey-bench --allocations --check", "latchkey-bench --check --json",
                "latchkey-bench --html out/bench/index.html", "latchkey-bench --pages .",
            ],
            yes: "measured", no: "a part failed; with --check also: an aim is missed or could not be measured")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        if arguments[counting] {
            try console.printJSON(Bench.ownCount())
            return .yes
        }
        let isWhole = ![brief, licenses, server, allocations, recording].contains { arguments[$0] }
        let table = try arguments[pages].map { try BenchTable(in: $0, isWhole: isWhole) }
        #if DEBUG
            console.note("This is a debug build; its figures mean little. See: make bench")
        #endif
        let bench = Bench(isBrief: arguments[brief], countingFlag: counting.name) { console.progress($0) }
        let figures = await Bench.figures(of: parts(of: bench, arguments))
        console.endProgress()
        if arguments[Flag.json] {
            try console.printJSON(["figures": figures])
        } else {
            let titles = ["FIGURE", "MEASURED", "AIM", "MET", "MADE OF"]
            console.print(TextTable(rows: [titles] + figures.map(\.cells)).text)
        }
        try write(figures, arguments, console)
        try table?.write(figures, console)
        let isMet = figures.allSatisfy { $0.aim == nil || $0.isMet == true }
        return figures.contains(where: \.hasFailed) || (arguments[check] && !isMet) ? .no : .yes
    }

    /// Saves the run and writes the page, if requested.
    private func write(_ figures: [Figure], _ arguments: Arguments, _ console: Console) throws {
        guard let file = arguments[html] else { return }
        let run = BenchRun(figures, at: Date())
        let runs = try BenchHistory.adding(run, to: arguments[history] ?? Self.defaultHistory, console)
        let page = BenchPage(figures: figures, history: runs, run: run).page
        try OutputFile.makeFolder(URL(filePath: file).deletingLastPathComponent())
        try OutputFile.write(Data(page.utf8), to: file, for: .everyone, console)
        console.note("The charts are in \(file)")
    }

    private func parts(of bench: Bench, _ arguments: Arguments) -> [Bench.Part] {
        if arguments[licenses] { return [("Licenses over HTTP", bench.licenses)] }
        if arguments[recording] { return [("Recording for support", bench.recording)] }
        #if os(Linux)
            if arguments[server] { return bench.serverParts }
            if arguments[allocations] { return [("Allocations", bench.allocations), bench.budgetPart] }
        #else
            if arguments[server] || arguments[allocations] {
                return [("Server", { throw Diagnosis.notOnThisSystem })]
            }
        #endif
        return bench.parts
    }
}
