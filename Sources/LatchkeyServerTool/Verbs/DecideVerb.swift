import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey-server decide`: evaluates a policy on facts, without a server.
struct DecideVerb: Verb {
    private let policy = Option(
        "policy", .path("FILE"), "the policy; it may extend other policies in its folder", .required)
    private let facts = Option(
        "facts", .path("FILE"), "the facts, or a record printed by explain; - reads standard input", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "decide", summary: "evaluate a policy on facts, and explain the decision",
            options: [policy, facts],
            examples: ["latchkey-server decide --policy policies/demo.json --facts facts.json"],
            yes: "a license", no: "a refusal, or a file that cannot be used")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let url = URL(filePath: try arguments.required(policy)).absoluteURL
        let name = url.deletingPathExtension().lastPathComponent
        let bytes = try InputFile.read(try arguments.required(facts), limit: 1 << 20, console)
        let decision = try LicenseDecision(policy: name, in: url.deletingLastPathComponent(), facts: bytes)
        console.print(decision.explanation)
        return decision.isLicense ? .yes : .no
    }
}
