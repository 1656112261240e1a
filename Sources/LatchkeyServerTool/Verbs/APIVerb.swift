import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server api`: the admin API's description.
struct APIVerb: Verb {
    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "api", summary: "print the admin API's description in OpenAPI 3.1",
            details: "A running server has the same at /admin/v1/openapi.json, for operators.",
            examples: ["latchkey-server api > latchkey-admin.json"], yes: "it is printed")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        console.print(AdminDescription.text)
        return .yes
    }
}
