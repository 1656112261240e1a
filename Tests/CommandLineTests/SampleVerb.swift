import LatchkeyCore
import LatchkeySystem

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// A verb with one of everything, which prints its arguments.
struct SampleVerb: Verb {
    private let place = Positional("PLACE", "where")
    private let count = Option("count", .seconds(from: 0), "how long")
    private let out = Option("out", .path("FILE"), "where to", .required)
    private let set = Option("set", .named, "a parameter", .repeatable)
    private let mode = Option("mode", .choice(["fast": 1, "slow": 2]), "how")
    private let key = Option("key", .hex(bytes: 2), "with what")
    private let text = Option("text", .text("TEXT"), "which")
    private let fail = Option("fail", .choice(["diagnosed": 1, "usage": 2, "unknown": 3]), "end badly")
    private let force = Flag("force", "insist")

    /// It shows its arguments.
    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            name: "sample", summary: "print what it was given", details: "Nothing more.", positionals: [place],
            options: [count, out, set, mode, key, text, fail, force, Flag.json],
            examples: ["latchkey sample --out FILE here"])
    }

    struct Unknown: Error { let secret = "hunter2" }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        console.progress("at work")
        console.endProgress()
        switch arguments[fail] {
        case 1: throw FileError.cannotRead("cellar", because: "it is dark")
        case 2: throw UsageError("these do not go together.")
        case 3: throw Unknown()
        default: break
        }
        let values: [String: String] = [
            "place": arguments[place],
            "count": arguments[count].map { "\($0.inSeconds)" } ?? "–",
            "out": try arguments.required(out),
            "set": arguments.all(set).map { "\($0.name)→\($0.value)" }.joined(separator: ","),
            "mode": arguments[mode].map { "\($0)" } ?? "–",
            "key": arguments[key]?.revealed.hexString ?? "–",
            "text": arguments[text] ?? "–",
            "force": "\(arguments[force])",
        ]
        try console.printJSON(values)
        return .yes
    }
}
