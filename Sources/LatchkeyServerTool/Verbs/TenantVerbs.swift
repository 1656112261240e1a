import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyLicensing
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyVault

/// `latchkey-server tenant create`: a tenant's first data key and seed.
struct TenantCreateVerb: Verb {
    private let tenant = Positional("NAME", "a tenant of the configuration", .none)
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "tenant create",
            summary: "create the keys that seal and derive a tenant's keys",
            details: """
                Run it once for each new tenant, before a server starts with it. No start, check or reload creates them, so lost keys
                are noticed. Running it again changes nothing. The audit records it.
                """,
            positionals: [tenant], options: [config],
            examples: ["latchkey-server tenant create acme --config server.json"],
            yes: "the tenant has its keys", no: "it does not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let name = arguments[tenant]
        let (isNew, fingerprint) = try await KeySealing.create(name, in: file)
        console.print(isNew ? "The tenant “\(name)” has its keys." : "The tenant “\(name)” already had its keys.")
        if let fingerprint { console.print("The database's fingerprint is \(fingerprint).") }
        return .yes
    }
}

/// `latchkey-server tenant list`: which tenants have keys, in the configuration and in the store.
struct TenantListVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "tenant list", summary: "list the tenants, and whether they have keys",
            details: "Changes nothing. Prints the database's fingerprint, for stores.fingerprint in the configuration.",
            options: [config], examples: ["latchkey-server tenant list --config server.json"],
            yes: "each tenant of the configuration has its keys", no: "a tenant has no keys")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let engines = try await ServerEngines.open(file, for: .checking)
        defer { engines.close() }
        let stored = Set(try await engines.keys.dataKeys().map(\.tenant))
        let configured = Set(file.settings.tenants.keys)
        for name in configured.union(stored).sorted() {
            let words =
                switch (configured.contains(name), stored.contains(name)) {
                case (true, true): "has keys"
                case (true, false): "has no keys: latchkey-server tenant create \(name) --config \(file.path)"
                case (false, _): "has keys but is not in the configuration"
                }
            console.print("\(name.onOneLine): \(words)")
        }
        if let fingerprint = try await engines.keys.fingerprint() {
            console.print("The database's fingerprint is \(fingerprint).")
        }
        return configured.isSubset(of: stored) ? .yes : .no
    }
}
