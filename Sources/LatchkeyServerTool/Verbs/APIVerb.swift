import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server api`: the admin API's description.
struct APIVerb: Verb {
    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "api", summary: "print the admin API's description in OpenAPI 3.1",
            details: "A running server offers it to operators at /admin/v1/openapi.json.",
            examples: ["latchkey-server api > latchkey-admin.json"], yes: "the description was printed")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        console.print(AdminDescription.text)
        return .yes
    }
}
