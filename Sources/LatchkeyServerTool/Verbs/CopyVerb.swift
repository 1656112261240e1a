import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server copy accept`: the stores as they are, though this node has seen a newer state of them.
struct CopyAcceptVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "copy accept",
            summary: "accept stores that are older than this node's last view of them",
            details: """
                For use after a backup was restored, or after a failover that lost changes. Until then, keys that are disabled in
                the node's copy stay disabled; afterwards the database decides. This applies only to this node, whether or not the
                server is running: repeat it on each node. The audit records it.
                """,
            options: [config], examples: ["latchkey-server copy accept --config server.json"],
            yes: "the stores were accepted as they are", no: "they were not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let isOlder = try await KeySealing.with(file) { try await $0.acceptOlder() }
        console.print(
            isOlder
                ? "This node accepts its stores as they are."
                : "No store is older than this node's last view of it; nothing changed.")
        return .yes
    }
}
