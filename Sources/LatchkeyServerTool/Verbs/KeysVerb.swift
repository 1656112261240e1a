import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server keys rewrap`: all data keys under the key encryption key in force.
struct KeysRewrapVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "keys rewrap",
            summary: "wrap all data keys with the key encryption key in force",
            details: """
                Run it once all nodes have the new key, as keyEncryptionKey or nextKeyEncryptionKey: a node without it can no longer
                start. Content keys do not change. Afterwards no node needs the former key. The audit records it.
                """,
            options: [config], examples: ["latchkey-server keys rewrap --config server.json"],
            yes: "all data keys are wrapped with it", no: "they are not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let (count, wrapper) = try await KeySealing.with(file) { try await $0.rewrap() }
        console.print("\(count.counted("data key")) rewrapped; all are wrapped with “\(wrapper.onOneLine)”.")
        return .yes
    }
}
