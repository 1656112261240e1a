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
                Once all nodes know the new key, as keyEncryptionKey or nextKeyEncryptionKey: a node that does not know it cannot start any
                more. Content keys are not touched. Afterwards no node needs the former key. It is in the audit.
                """,
            options: [config], examples: ["latchkey-server keys rewrap --config server.json"],
            yes: "all data keys are wrapped by it", no: "they are not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let (count, wrapper) = try await KeySealing.with(file) { try await $0.rewrap() }
        console.print("\(count.counted("data key")) wrapped again; all are wrapped by “\(wrapper.onOneLine)”.")
        return .yes
    }
}
