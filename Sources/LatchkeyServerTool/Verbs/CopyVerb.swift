import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server copy accept`: the database as it is, though this node has seen a newer state of it.
struct CopyAcceptVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "copy accept",
            summary: "take a database that is older than what this node has seen",
            details: """
                For use after a restored backup, or a failover that lost entries of the audit. Until then keys that the node's copy knows as
                disabled stay disabled; afterwards the database decides. It holds for this node alone, whether the server runs or not: repeat it on
                each node. It is in the audit.
                """,
            options: [config], examples: ["latchkey-server copy accept --config server.json"],
            yes: "the database is taken as it is", no: "it is not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let isOlder = try await KeySealing.with(file) { try await $0.acceptOlder() }
        console.print(
            isOlder
                ? "The database is taken as it is, on this node."
                : "The database is not older than what this node has seen; nothing changed.")
        return .yes
    }
}
