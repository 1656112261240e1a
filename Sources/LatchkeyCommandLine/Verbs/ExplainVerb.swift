import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey explain`: the meaning of a failure's number, and remedies.
struct ExplainVerb: Verb {
    private let numbers = Positional(
        "NUMBER",
        "a number, a name or a whole error as the player or its log has it; a log FILE, - for one on standard input; all",
        .files, .atLeastOnce)

    var usage: Usage {
        Usage(
            name: "explain", summary: "explain an error number: its meaning, its causes and its remedies",
            details: """
                Knows the numbers of FairPlay, CoreMedia, AVFoundation and URL loading that concern keys, HTTP statuses, the codes
                of THEOplayer, JW Player, Shaka Player, OpenTV Player, Bitmovin, Mux Player and react-native-video, the names of
                hls.js and videojs-contrib-eme, the vendors' codes that a profile knows, and Latchkey's own errors: signed,
                unsigned in 32 or 64 bits, hexadecimal, as four characters, or by name. Several players have the same number, so
                put the player's name before it. Of a log, however long, it explains each number that it knows once, in the order
                of the log, and says which number of a named domain it does not know. Apple documents few of them; where a meaning
                rests on reports alone, it says so.
                """,
            positionals: [numbers], options: [Flag.json],
            examples: [
                "latchkey explain -42656", "latchkey explain 4294924640",
                "latchkey explain AVErrorContentIsNotAuthorized",
                "latchkey explain THEO 7003", "latchkey explain drm_3031", "latchkey explain NAGRA 4001",
                "latchkey explain 'fmt?'", "latchkey explain RCTVideo 1002", "latchkey explain - < device.log",
                "latchkey explain --json all",
            ],
            yes: "it is explained", no: "no number is known")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let text = arguments.all(numbers).joined(separator: " ")
        let explanations = try explanations(for: text, console)
        if arguments[Flag.json] {
            try console.printJSON(explanations)
        } else if text == Self.all {
            let rows = explanations.map { [$0.number == 0 ? "" : "\($0.number)", $0.name, $0.meaning] }
            console.print(TextTable(rows: rows).text)
        } else {
            console.print(explanations.map(\.text).joined(separator: "\n\n"))
        }
        return .yes
    }

    private static let all = "all"

    private func explanations(for text: String, _ console: Console) throws -> [NumberExplanation] {
        if text == Self.all {
            return (FairPlayErrorExplanation.all + FairPlayErrorExplanation.elsewhere).map(NumberExplanation.init)
        }
        if text == "-" || isFile(text) { return try explanations(inLog: text, console) }
        let (found, unknown) = Explanations.of(text)
        let refusals = RefusalExplanation.all(of: text).map(NumberExplanation.init)
        let known = found + refusals
        // An unknown player's code may be a vendor's.
        guard known.isEmpty else { return say(refusals.isEmpty ? unknown : [], beside: known, console) }
        if let number = ErrorNumber.read(text.trimmingCharacters(in: .whitespaces)) {
            throw Diagnosis.numberUnknown(number, near: Explanations.near(number))
        }
        guard unknown.isEmpty, !text.contains("Domain=") else { throw Diagnosis.noNumberKnown(unknown) }
        throw UsageError(
            "Nothing is known of \(quoted(text)): it is not a number, an error's name or a vendor's code. NUMBER may also be a whole error, a log file, - or \(Self.all)."
        )
    }

    private func explanations(inLog path: String, _ console: Console) throws -> [NumberExplanation] {
        var scanner = LogScanner()
        try InputFile.forEachPiece(of: path, console) { scanner.scan($0) }
        let found = scanner.finished()
        guard !found.isEmpty else { throw Diagnosis.noNumberKnown(scanner.unknown) }
        return say(scanner.unknown, beside: found, console)
    }

    /// Also says which parts are unknown.
    private func say(
        _ unknown: [UnknownNumber], beside found: [NumberExplanation], _ console: Console
    ) -> [NumberExplanation] {
        for number in unknown { console.note("\(number)") }
        return found
    }

    /// Whether a text names an existing file. A number never does.
    private func isFile(_ text: String) -> Bool {
        guard ErrorNumber.read(text) == nil, !text.isEmpty else { return false }
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: text, isDirectory: &isFolder) && !isFolder.boolValue
    }
}

extension Diagnosis {
    fileprivate static func numberUnknown(_ number: Int, near: [NumberExplanation]) -> Diagnosis {
        let hint = near.map { "\($0.number) (\($0.name))" }.joined(separator: ", ")
        let remedy =
            "Look for the number below it in the error's NSUnderlyingErrorKey; latchkey explain all lists the known numbers."
        return Diagnosis(
            code: "numberUnknown",
            reason:
                "Nothing is known of \(number)\(UnknownNumber.family(of: number).map { "; it lies among \($0)" } ?? "").",
            remedy: near.isEmpty ? remedy : "Did you mean \(hint)?")
    }

    fileprivate static func noNumberKnown(_ unknown: [UnknownNumber]) -> Diagnosis {
        Diagnosis(
            code: "noNumberKnown",
            reason: unknown.isEmpty
                ? "No number in the log is known." : unknown.prefix(3).map(\.description).joined(separator: " "),
            remedy: unknown.allSatisfy(\.beside.isEmpty)
                ? "Log the whole NSError with its underlying errors, not its description alone."
                : "Look at the text around the number; no list has the number itself.")
    }
}
