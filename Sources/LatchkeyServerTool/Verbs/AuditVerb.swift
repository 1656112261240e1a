import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal

/// `latchkey-server audit verify`: whether the audit is as it was written.
struct AuditVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "audit verify", summary: "compute the audit's chain again",
            details: "Names the first entry that was changed, removed or put elsewhere.",
            options: [config], examples: ["latchkey-server audit verify --config server.json"],
            yes: "the chain is whole", no: "it is broken; the place is named")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let engines = try await ServerEngines.open(ConfigurationFile(arguments.required(config)), for: .checking)
        defer { engines.close() }
        let verdict = try await AuditChain.verify(engines.audit)
        console.print("\(verdict)")
        if case .intact = verdict { return .yes }
        return .no
    }
}
