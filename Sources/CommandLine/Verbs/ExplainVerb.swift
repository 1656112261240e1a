import Foundation
import LatchkeyCore

/// `latchkey explain`: what the number of a failure means, and what to try.
struct ExplainVerb: Verb {
    private let numbers = Positional(
        "NUMBER", "a number as the player or its log has it, - for a log on standard input, or all")

    var usage: Usage {
        Usage(
            name: "explain", summary: "say what an error number means, why it came, and what to try",
            details: """
                Knows the numbers of FairPlay, CoreMedia and AVFoundation that concern keys, signed or unsigned, and those of
                Latchkey's own errors. Of a log it explains each number that it knows once, in the order of the log. Apple
                documents few of them; where a meaning rests on reports from the field alone, it says so.
                """,
            positionals: [numbers], options: [Flag.json],
            examples: [
                "latchkey explain -42656", "latchkey explain 4294924640", "latchkey explain - < device.log",
                "latchkey explain --json all",
            ],
            yes: "it is explained", no: "no number is known")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let explanations = try explanations(for: arguments[numbers], console)
        if arguments[Flag.json] {
            try console.printJSON(explanations)
        } else if arguments[numbers] == Self.all {
            console.print(TextTable(rows: explanations.map { ["\($0.number)", $0.name, $0.meaning] }).text)
        } else {
            console.print(explanations.map(\.text).joined(separator: "\n\n"))
        }
        return .yes
    }

    private static let all = "all"
    /// Four mebibytes of a log.
    private static let limit = 1 << 22

    private func explanations(for text: String, _ console: Console) throws -> [NumberExplanation] {
        if text == Self.all { return FairPlayErrorExplanation.all.map(NumberExplanation.init) }
        guard text == "-" else {
            guard let number = Int(text) else {
                throw UsageError("NUMBER is a number, -, or \(Self.all), not \(quoted(text)).")
            }
            guard let found = NumberExplanation(number) else { throw ExplanationError.unknown(number) }
            return [found]
        }
        let log = String(decoding: try InputFile.read(text, limit: Self.limit, console), as: UTF8.self)
        let found = NumberExplanation.all(in: log)
        guard !found.isEmpty else { throw ExplanationError.noneInLog }
        return found
    }
}

/// Why nothing is explained.
private enum ExplanationError: DiagnosableError {
    case unknown(Int)
    case noneInLog

    var code: String {
        switch self {
        case .unknown: "numberUnknown"
        case .noneInLog: "noNumberKnown"
        }
    }

    var reason: String {
        switch self {
        case .unknown(let number): "Nothing is known of \(number)."
        case .noneInLog: "No number in the log is known."
        }
    }

    var remedy: String {
        switch self {
        case .unknown:
            "Look for the number below it in the error's NSUnderlyingErrorKey; latchkey explain all lists what is known."
        case .noneInLog: "Log the whole NSError with its underlying errors, not its description alone."
        }
    }
}
