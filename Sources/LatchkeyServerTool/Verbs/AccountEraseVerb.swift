import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTerminal

/// `latchkey-server account erase`: erases one account from everything that a node reaches.
struct AccountEraseVerb: Verb {
    private let address = OperatorAddress(code: "notErased")
    private let tenant = Option("tenant", .text("NAME"), "the tenant of the account", .required)
    private let name = Positional("NAME", "the account's name in the tokens, or as the console shows it", .none)
    private let isTrial = Flag("dry-run", "change nothing, and print what would be erased and kept")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "account erase", summary: "erase an account from all stores",
            details: """
                Erases sessions, devices, downloads and first plays of rentals, and empties the record's rows, which bills still count. Prints for each place the
                number of things erased and kept, and why. Close the account in your own service first: a running stream ends, and a new
                license begins new rows. Needs the role security; the audit records a keyed digest, not the name. Repeating is harmless.
                """,
            positionals: [name], options: [tenant, isTrial] + address.options + [Flag.json],
            examples: [
                "latchkey-server account erase viewer-7 --tenant demo --dry-run",
                "latchkey-server account erase viewer-7 --tenant demo",
            ],
            yes: "it is erased, or with --dry-run nothing changed",
            no: "a store is away; the error says which places are done")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let path = ["tenants", try arguments.required(tenant), "account"]
        let reply = JSONValue(
            try await address.ask(
                arguments[isTrial] ? "GET" : "DELETE", arguments[isTrial] ? path + ["erasure"] : path,
                query: [("name", arguments[name])], arguments, console))
        guard let reply, let places = reply["places"]?.elements else {
            throw Diagnosis(
                code: address.code, reason: "The server's reply is not an erasure.",
                remedy: "Give the operators' address of a latchkey-server of this version.")
        }
        guard !arguments[Flag.json] else {
            console.print(reply.canonicalText)
            return .yes
        }
        func count(_ value: JSONValue?) -> String { value?.number.flatMap { Int(exactly: $0) }.map { "\($0)" } ?? "–" }
        let rows = places.map { place in
            [place["place"]?.text ?? "", count(place["erased"]), count(place["kept"]), place["why"]?.text ?? ""]
        }
        console.print(TextTable(rows: [["PLACE", "ERASED", "KEPT", "WHY"]] + rows).text)
        console.print(
            arguments[isTrial]
                ? "Nothing was erased." : "Erased. The audit has the digest \(reply["digest"]?.text ?? "–").")
        return .yes
    }
}
