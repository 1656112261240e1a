import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server settings`: the reference of the configuration and of policies.
struct SettingsVerb: Verb {
    private let setting = Positional(
        "PATH", "a member or a section, such as stores.copy; everything without it", .none, .optional)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "settings",
            summary: "explain the settings of server.json and of policies",
            details: "Prints Markdown. The path may be that of a fault which run --check reports.",
            positionals: [setting],
            examples: ["latchkey-server settings", "latchkey-server settings tenants.acme.tokens"],
            yes: "the explanation was printed")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        guard let path = arguments.given(setting) else {
            console.print(SettingReference.page)
            return .yes
        }
        guard let tables = SettingReference.tables(at: path) else {
            throw UsageError(
                "There is no setting \(quoted(path)).", hint: "latchkey-server settings lists all settings.")
        }
        console.print(tables)
        return .yes
    }
}
