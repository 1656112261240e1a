import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey open-ckc`: the second half of a simulated device.
struct OpenCKCVerb: Verb {
    private let ckc = Positional("CKC", "a file with the CKC's bytes, or - for standard input")
    private let state = Option("state", .path("FILE"), "the state that latchkey spc kept for the SPC", .required)

    var usage: Usage {
        Usage(
            name: "open-ckc", summary: "check and open a CKC, as the device does that asked for it",
            details: "Prints the content key, which is a secret: with test credentials it protects nothing.",
            positionals: [ckc], options: [state, Flag.json],
            examples: [
                "latchkey open-ckc --state my.state my.ckc", "latchkey open-ckc --state my.state --json my.ckc",
            ],
            yes: "the CKC answers the SPC; its key and terms are printed",
            no: "the CKC is refused, with a code such as wrongSPC, or a file cannot be read")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        // The CKC first: at the end of a pipe, the state is written only while the CKC is on its way.
        let ckc = try InputFile.read(arguments[ckc], limit: Self.limit, console)
        let opened = try ExchangeFile.read(try arguments.required(state)).open(ckc)
        let key = opened.contentKey
        let facts = Facts(
            contentKey: key.key.revealed.hexString, contentIV: key.iv.revealed.hexString,
            terms: TermsSummary(opened.terms))
        if arguments[Flag.json] {
            try console.printJSON(facts)
        } else {
            console.print(
                "Content key  \(facts.contentKey)\nContent IV   \(facts.contentIV)\nTerms        \(facts.terms)")
        }
        return .yes
    }

    /// A mebibyte: enough of a license service's error page is read to name it.
    private static let limit = 1 << 20

    private struct Facts: Encodable {
        let contentKey: String
        let contentIV: String
        let terms: TermsSummary
    }
}
